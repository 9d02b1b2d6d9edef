/** Sends what is in the outbox, in its order, again after breaks. */
import { signal } from '@preact/signals';
import { ServiceError } from '../../api/call';
import { pause } from '../../api/pause';
import type { Ack } from '../../api/schema';
import { send, type Item } from './item';
import type { Outbox } from './outbox';

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 4000;
// A fault of the service that comes again this often does not go away.
const MOST_FAULTS = 5;

export interface Outcomes {
  stored: (item: Item, ack: Ack) => void;
  refused: (item: Item, error: ServiceError) => void;
  /** Nothing is left to send. */
  sent: () => void;
}

export class Sender {
  /** Whether the service cannot be reached. */
  readonly away = signal(false);
  private running = false;

  constructor(
    private readonly outbox: Outbox,
    private readonly outcomes: Outcomes,
    private readonly ending: AbortSignal,
  ) {}

  /** Send what there is, unless that is under way. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    let wait = FIRST_WAIT_MS;
    let faults = 0;
    for (let item = this.outbox.items.value[0]; item && !this.ending.aborted; item = this.outbox.items.value[0]) {
      try {
        const ack = await send(item, this.ending);
        this.outbox.remove(item);
        this.outcomes.stored(item, ack);
        [wait, faults] = [FIRST_WAIT_MS, 0];
        this.away.value = false;
        continue;
      } catch (error) {
        if (this.ending.aborted) break;
        // Asked to sign in: the page comes back after that, and sends it then.
        if (error instanceof ServiceError && error.status === 401) break;
        if (error instanceof ServiceError && !passing(error) && !(error.status >= 500 && ++faults < MOST_FAULTS)) {
          this.outbox.remove(item);
          this.outcomes.refused(item, error);
          faults = 0;
          continue;
        }
        this.away.value = true;
      }
      await pause(wait, this.ending);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
    this.running = false;
    if (!this.ending.aborted && !this.outbox.items.value.length) this.outcomes.sent();
  }
}

function passing(error: ServiceError): boolean {
  return error.passing || error.status === 429;
}
