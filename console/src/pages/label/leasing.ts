/** Brings questions to the desk, and keeps the service from giving them to others meanwhile. */
import { call, path, ServiceError } from '../../api/call';
import { asked } from '../../api/token';
import { pause } from '../../api/pause';
import type { Ack, LeaseResponse } from '../../api/schema';
import { Desk } from './desk';
import { ownTags } from './labeler';

const WAIT_S = 30;
// Questions that come so soon after the answer, several times on end, need none that waits for them.
const SOON_MS = 30;
const OFTEN = 3;
// With so few labels to come, each question should know all answers before it.
const FEW_LABELS = 10;
// Leases last at least half as long as the session says; three beats in the shortest.
const BEATS = 6;
const LOOK_AGAIN_MS = 1000;
const LONGEST_PAUSE_MS = 4000;

/** Leases for one page; `session` is empty for questions of any session. */
export class Leasing {
  readonly desk: Desk;
  private readonly ending = new AbortController();
  private go: () => void = () => undefined;
  private stirred = false;
  private wanted = 2;
  private soon = 0;

  constructor(
    labeler: string,
    private readonly session: string,
    private readonly failed: (error: unknown) => void,
  ) {
    this.desk = new Desk(labeler, this.ending.signal, () => this.look());
  }

  /** Begin; returns what ends it. */
  start(): () => void {
    const shown = () => document.visibilityState === 'visible' && void this.extend();
    const left = () => this.leave();
    const back = (event: PageTransitionEvent) => event.persisted && this.look();
    document.addEventListener('visibilitychange', shown);
    addEventListener('pagehide', left);
    addEventListener('pageshow', back);
    void this.desk.sender.run();
    void this.lease();
    void this.beat();
    return () => {
      document.removeEventListener('visibilitychange', shown);
      removeEventListener('pagehide', left);
      removeEventListener('pageshow', back);
      this.leave();
      this.ending.abort();
      this.go();
    };
  }

  /** Something has happened after which there may be a question. */
  look(): void {
    this.stirred = true;
    this.go();
  }

  private async lease(): Promise<void> {
    const { signal } = this.ending;
    let wait = 250;
    while (!signal.aborted) {
      if (!this.hasRoom()) {
        this.stirred = false;
        await this.change();
        continue;
      }
      try {
        this.stirred = false;
        const news = await this.ask();
        this.desk.sender.away.value = false;
        wait = 250;
        if (news || !this.hasRoom()) continue;
        // Where something is held, Lease does not wait: the session's next change says when to ask again.
        await this.change(this.desk.finish.value ? undefined : LOOK_AGAIN_MS);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ServiceError && !error.passing && error.status !== 429) {
          if (error.status !== 401) this.failed(error);
          return;
        }
        this.desk.sender.away.value = true;
        await pause(wait, signal);
        wait = Math.min(2 * wait, LONGEST_PAUSE_MS);
      }
    }
  }

  private async ask(): Promise<boolean> {
    const { desk, ending } = this;
    for (const [leaseId, session] of desk.begin()) void this.release(session, [leaseId]).catch(() => undefined);
    const response = await call<LeaseResponse>(this.session ? path`/v1/${this.session}:lease` : '/v1/sessions:lease', {
      body: {
        labeler: desk.labeler,
        maxQueries: this.most,
        waitSeconds: desk.held.length ? 0 : WAIT_S,
        kind: 'LABELER_KIND_HUMAN',
        tags: ownTags.value,
      },
      signal: ending.signal,
    });
    if (response.session) desk.saw(response.session);
    const news = desk.take(response.assignments ?? []);
    const reason = response.finishReason ?? 'FINISH_REASON_UNSPECIFIED';
    if (reason !== 'FINISH_REASON_UNSPECIFIED') desk.end(reason);
    else desk.finish.value = undefined;
    if (news) this.note();
    return news;
  }

  /** Learn from how long this one took whether one has to be held ahead. */
  private note(): void {
    const { answeredAt } = this.desk;
    this.desk.answeredAt = undefined;
    if (answeredAt === undefined) return;
    this.soon = performance.now() - answeredAt > SOON_MS ? 0 : this.soon + 1;
    this.wanted = this.soon < OFTEN ? 2 : 1;
  }

  private hasRoom(): boolean {
    const { desk } = this;
    if (desk.outbox.items.value.length) return false;
    // (Why a session has ended says the next Lease.)
    return desk.held.length < this.most || (desk.over && !desk.finish.value);
  }

  /** How many to hold. */
  get most(): number {
    return (this.desk.session.value?.config?.budget ?? 0) < FEW_LABELS ? 1 : this.wanted;
  }

  /** Wait until something has happened since the last question was asked for, at most for milliseconds. */
  private async change(most?: number): Promise<void> {
    if (this.stirred || this.ending.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = most === undefined ? undefined : setTimeout(resolve, most);
      this.go = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async beat(): Promise<void> {
    while (!this.ending.signal.aborted) {
      const lease = this.desk.session.value?.config?.leaseSeconds;
      await pause(lease ? (1000 * lease) / BEATS : LOOK_AGAIN_MS, this.ending.signal);
      if (lease && document.visibilityState === 'visible') await this.extend();
    }
  }

  private async extend(): Promise<void> {
    const { desk, ending } = this;
    for (const [session, leaseIds] of bySession(desk)) {
      try {
        const body = { labeler: desk.labeler, extend: { leaseIds } };
        const { ack } = await call<{ ack: Ack }>(path`/v1/${session}:extend`, { body, signal: ending.signal });
        if (ack.lostLeaseIds?.length) desk.lose(ack.lostLeaseIds);
      } catch {
        // The next one, or the next answer, tells.
      }
    }
  }

  /** Give back what is held: others need not wait for it. */
  private leave(): void {
    // (Who has to sign in again goes on with the same questions.)
    for (const [session, leaseIds] of asked.value === undefined ? bySession(this.desk) : []) {
      void this.release(session, leaseIds).catch(() => undefined);
    }
    this.desk.questions.value = [];
  }

  private async release(session: string, leaseIds: string[]): Promise<void> {
    const body = { labeler: this.desk.labeler, release: { leaseIds } };
    await call(path`/v1/${session}:release`, { body, keepalive: true });
  }
}

function bySession(desk: Desk): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { assign } of desk.held) {
    const { session = '', leaseId = '' } = assign;
    found.set(session, [...(found.get(session) ?? []), leaseId]);
  }
  return found;
}
