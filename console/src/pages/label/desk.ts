/** What lies before one labeler: questions, answers that can be undone, and what the service says. */
import { batch, computed, signal } from '@preact/signals';
import type { ServiceError } from '../../api/call';
import type { Ack, Assign, FinishReason, LiveEvidence, Session, SkipMode, Verdict } from '../../api/schema';
import { verdictWord } from './words';
import { newId, type AnswerItem, type Item } from './item';
import { Outbox } from './outbox';
import { Sender } from './sender';

export interface Question {
  assign: Assign;
  /** False for a question that is asked again after an undo, until the service leases it anew. */
  leased: boolean;
  /** The lease ended while the labeler was thinking. */
  lost: boolean;
  takenBack?: Verdict;
}

export interface Note {
  text: string;
  grave: boolean;
}

interface Answered {
  assign: Assign;
  verdict: Verdict;
}

/** Holds the state and changes it; `Leasing` brings the questions. */
export class Desk {
  readonly questions = signal<readonly Question[]>([]);
  /** The session of the question, or the one that the page is for. */
  readonly session = signal<Session | undefined>(undefined);
  readonly note = signal<Note | undefined>(undefined);
  readonly finish = signal<FinishReason | undefined>(undefined);
  readonly history = signal<readonly Answered[]>([]);
  /** The figures before the ones in force. */
  readonly before = signal<LiveEvidence | undefined>(undefined);
  readonly question = computed(() => this.questions.value[0]);
  readonly outbox: Outbox;
  readonly sender: Sender;
  /** When the last answer was given; undefined once the question after it has come. */
  answeredAt: number | undefined;
  /** Leases that are answered or declined here: the service may repeat them for a moment. */
  private readonly done = new Set<string>();
  /** Observations that were answered unasked since the last Lease began, which may bring them once more. */
  private unasked: Item[] = [];
  /** Leases of such a question. */
  private readonly strays = new Map<string, string>();

  constructor(
    readonly labeler: string,
    ending: AbortSignal,
    private readonly wake: () => void,
  ) {
    this.outbox = new Outbox(labeler);
    this.sender = new Sender(this.outbox, { stored: this.stored, refused: this.refused, sent: wake }, ending);
  }

  /** Questions that the service holds for this page. */
  get held(): readonly Question[] {
    return this.questions.value.filter((one) => one.leased && !one.lost);
  }

  /** Whether the session of the page asks nothing more. */
  get over(): boolean {
    const asking = ['SESSION_STATE_PREPARING', 'SESSION_STATE_LABELING', 'SESSION_STATE_PAUSED'];
    return this.session.value !== undefined && !asking.includes(this.session.value.state ?? '');
  }

  // What the labeler does

  answer(verdict: Verdict, confidence?: number): void {
    const question = this.question.value;
    if (!question) return;
    const { assign } = question;
    batch(() => {
      this.leave(question);
      this.history.value = [...this.history.value, { assign, verdict }];
      const sure = verdict === 'VERDICT_UNSURE' ? undefined : confidence;
      // One that was taken back, and is not asked anew, is answered unasked.
      const asked = question.leased ? this.said(assign) : { ...this.said(assign), query: 0, leaseId: '' };
      const item: AnswerItem = { kind: 'answer', ...asked, verdict };
      if (!question.leased) this.unasked.push(item);
      this.say(sure === undefined ? item : { ...item, confidence: sure });
    });
    this.answeredAt = performance.now();
  }

  skip(mode: SkipMode): void {
    const question = this.question.value;
    if (!question) return;
    if (!question.leased && mode !== 'SKIP_MODE_LATER') {
      this.tell('You took this answer back: answer it, or skip it for later.', true);
      return;
    }
    batch(() => {
      this.leave(question);
      if (question.leased) this.say({ kind: 'skip', ...this.said(question.assign), mode });
      else this.tell('Left without an answer.');
    });
    this.wake();
  }

  undo(): void {
    const last = this.history.value.at(-1);
    if (!last) {
      this.tell('You have given no answer on this page that could be taken back.');
      return;
    }
    batch(() => {
      this.history.value = this.history.value.slice(0, -1);
      const again = { assign: last.assign, leased: false, lost: false, takenBack: last.verdict };
      this.questions.value = [again, ...this.questions.value];
      this.say({ kind: 'retract', ...this.said(last.assign), query: 0, leaseId: '' });
    });
  }

  // What the service says

  /** Take in all queries that are held now. Returns whether one is new. */
  take(assigns: readonly Assign[]): boolean {
    const fresh = assigns.filter((one) => !this.done.has(one.leaseId ?? ''));
    const known = new Set(this.questions.value.filter((one) => one.leased).map((one) => one.assign.leaseId));
    let next = this.questions.value
      .filter((one, place) => place === 0 || !one.leased || fresh.some((held) => held.leaseId === one.assign.leaseId))
      .map((one) => (one.leased ? { ...one, lost: !fresh.some((held) => held.leaseId === one.assign.leaseId) } : one));
    let news = false;
    for (const assign of fresh) {
      if (known.has(assign.leaseId)) continue;
      if (this.unasked.some((one) => same(one, assign))) {
        this.done.add(assign.leaseId ?? '');
        this.strays.set(assign.leaseId ?? '', assign.session ?? '');
        continue;
      }
      news = true;
      const place = next.findIndex((one) => (!one.leased || one.lost) && same(one.assign, assign));
      const question = { assign, leased: true, lost: false };
      next = place < 0 ? [...next, question] : next.map((one, i) => (i === place ? { ...one, ...question } : one));
    }
    this.questions.value = next;
    return news;
  }

  /** The leases of these have ended. */
  lose(leaseIds: readonly string[]): void {
    const [first, ...rest] = this.questions.value;
    const gone = (one: Question) => one.leased && leaseIds.includes(one.assign.leaseId ?? '');
    if (!first) return;
    this.questions.value = [gone(first) ? { ...first, lost: true } : first, ...rest.filter((one) => !gone(one))];
    this.wake();
  }

  /** The session asks nothing more, for this reason. */
  end(reason: FinishReason): void {
    batch(() => {
      this.finish.value = reason;
      this.questions.value = [];
      this.history.value = [];
    });
  }

  /** A Lease begins, and nothing is left to send. Returns the leases that nobody needs, with their sessions. */
  begin(): [string, string][] {
    this.unasked = [];
    const found = [...this.strays];
    this.strays.clear();
    return found;
  }

  /** Take in the session as it is now. */
  saw(session: Session): void {
    const last = this.session.value;
    batch(() => {
      if (last?.name === session.name && last?.live && session.live && last.live.labels !== session.live.labels) {
        this.before.value = last.live;
      } else if (last?.name !== session.name) {
        this.before.value = undefined;
      }
      // A Lease tells of a stall only where it brings no query.
      this.session.value = session;
    });
  }

  tell(text: string, grave = false): void {
    this.note.value = { text, grave };
  }

  private said(assign: Assign): Omit<Item, 'kind' | 'verdict' | 'mode'> {
    const { session = '', observationId = '', query = 0, leaseId = '' } = assign;
    return { id: newId(), labeler: this.labeler, session, observationId, query, leaseId };
  }

  private say(item: Item): void {
    this.note.value = undefined;
    this.outbox.add(item);
    void this.sender.run();
  }

  private leave(question: Question): void {
    if (question.leased) this.done.add(question.assign.leaseId ?? '');
    this.questions.value = this.questions.value.filter((one) => one !== question);
  }

  private readonly stored = (item: Item, ack: Ack): void => {
    const session = this.session.value;
    if (session && ack.counts && session.name === item.session) {
      this.session.value = { ...session, counts: ack.counts };
    }
    if (item.kind === 'answer' && ack.disposition === 'DISPOSITION_UNUSED') {
      this.forget(item);
      this.tell(`Your answer “${verdictWord(item.verdict)}” on ${item.observationId} came too late to count. It is recorded.`);
    }
  };

  private readonly refused = (item: Item, error: ServiceError): void => {
    const about = `${item.observationId}: ${error.message} (${error.reason})`;
    if (item.kind === 'answer') {
      this.forget(item);
      this.tell(`Your answer “${verdictWord(item.verdict)}” was not stored. ${about}`, true);
    } else if (item.kind === 'retract' && error.reason !== 'NOT_LABELED') {
      this.questions.value = this.questions.value.filter((one) => one.leased || !same(one.assign, item));
      this.tell(`Your answer was not taken back. ${about}`, true);
    }
    // (A question that was declined and is gone anyway needs no word.)
  };

  private forget(item: Item): void {
    this.history.value = this.history.value.filter((one) => !same(one.assign, item));
  }
}

function same(one: { session?: string; observationId?: string }, other: { session?: string; observationId?: string }) {
  return one.session === other.session && one.observationId === other.observationId;
}
