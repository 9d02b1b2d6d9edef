import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client as Stub, Code } from "@connectrpc/connect";

import { fromStatus, renewable, SvddtuneError, toError } from "./errors.js";
import * as pb from "./gen/svddtune/v1/oracle_pb.js";
import { Outbox } from "./outbox.js";
import { Pause } from "./pause.js";
import { type Decide, type Labeler, SKIPS, type Verdict, VERDICTS } from "./verdict.js";
import { VERSION } from "./version.js";

const PROTOCOL_VERSION = 1;
const WELCOME_WITHIN_MS = 10_000;
// How long to read what the server still sends after the last message to it.
const FAREWELL_MS = 5_000;
// A stream that the server drains sooner is not replaced at once.
const DRAINED_SOON_MS = 500;
const PATIENCE_MS = 600_000;
/** The reasons of a Reject after which the query is no longer this labeler's. */
const GONE = new Set([
  "LEASE_LOST",
  "UNKNOWN_QUERY",
  "ALREADY_ANSWERED",
  "SESSION_NOT_ACTIVE",
  "SESSION_NOT_FOUND",
  "LABELER_WITHDRAWN",
]);

/** A query that is leased to this labeler. */
interface Held {
  query: pb.Assign;
  /** The newest lease; a query may be leased anew while it is decided. */
  lease: string;
  /** The Answer, Skip or Release that has no Ack yet. */
  sent: (Request & { requestId: string; lease: string }) | undefined;
  deciding: AbortController;
}

type Request = MessageInitShape<typeof pb.ConverseRequestSchema>;
type Message = NonNullable<Request["message"]>;

/** What a labeler knows; it outlives its streams. */
export class Dialogue {
  readonly #sessions: readonly string[];
  /** The queries that were sent are in the order of sending. */
  readonly #held = new Map<string, Held>();
  readonly #finished = new Set<string>();
  #resumeToken = "";
  #welcomed = false;
  #draining = false;
  /** What the caller's functions threw. */
  #failure: { error: unknown } | undefined;
  #outbox = new Outbox<Request>();
  #break: (why: SvddtuneError) => void = () => {};
  /** The heartbeat, or what breaks off a stream that takes too long. */
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly oracle: Stub<typeof pb.OracleService>,
    private readonly labeler: Labeler,
    private readonly decide: Decide,
  ) {
    this.#sessions = labeler.sessions ?? [];
  }

  async run(signal?: AbortSignal): Promise<void> {
    const pause = new Pause(WELCOME_WITHIN_MS); // for the first stream; later ones get more
    try {
      for (;;) {
        const began = Date.now();
        const error = await this.#converse(signal);
        if (this.#failure) throw this.#failure.error;
        if (this.#over) return;
        if (this.#welcomed) {
          pause.patienceMs = PATIENCE_MS;
          pause.reset();
        }
        const drained = this.#draining && this.#welcomed && Date.now() - began > DRAINED_SOON_MS;
        if (!drained) await pause.after(error, signal);
      }
    } finally {
      for (const held of this.#held.values()) held.deciding.abort();
    }
  }

  get #over(): boolean {
    const named = this.#sessions.length;
    return named > 0 && this.#finished.size === named && this.#held.size === 0;
  }

  /** Holds one stream until it ends, and returns the error that it ended with. */
  async #converse(signal?: AbortSignal): Promise<SvddtuneError | undefined> {
    const broken = new AbortController();
    this.#break = (why) => broken.abort(why);
    this.#outbox = new Outbox<Request>();
    this.#welcomed = this.#draining = false;
    this.#within(WELCOME_WITHIN_MS, "the server sent no Welcome");
    this.#outbox.push({ message: { case: "hello", value: this.#hello() } });
    const stop = signal ? AbortSignal.any([signal, broken.signal]) : broken.signal;
    try {
      const stream = this.oracle.converse(this.#outbox, { signal: stop });
      for await (const response of stream) this.#hear(response.message);
      return undefined;
    } catch (error) {
      signal?.throwIfAborted();
      return renewable(toError(broken.signal.aborted ? broken.signal.reason : error), this.#welcomed);
    } finally {
      clearInterval(this.#timer);
      this.#outbox.close();
    }
  }

  #hello(): MessageInitShape<typeof pb.HelloSchema> {
    const open = this.#sessions.filter((name) => !this.#finished.has(name));
    return {
      minProtocolVersion: PROTOCOL_VERSION,
      maxProtocolVersion: PROTOCOL_VERSION,
      clientName: "svddtune-typescript",
      clientVersion: VERSION,
      labeler: this.labeler.name,
      kind: this.labeler.kind ?? pb.LabelerKind.AUTOMATED,
      sessions: [...(open.length > 0 ? open : this.#sessions)], // all if only Acks are missing
      resumeToken: this.#resumeToken,
      credit: this.labeler.credit ?? 1,
    };
  }

  /** Breaks the stream off after a delay; replaces the timer that was set before. */
  #within(delayMs: number, why: string): void {
    clearInterval(this.#timer);
    const error = new SvddtuneError(why, Code.Unavailable);
    this.#timer = setTimeout(() => this.#break(error), delayMs);
  }

  #hear(message: pb.ConverseResponse["message"]): void {
    switch (message.case) {
      case "welcome":
        this.#welcome(message.value);
        break;
      case "assign":
        this.#assign(message.value);
        break;
      case "ack":
        this.#lose(message.value.lostLeaseIds);
        this.#acked(this.#sent(message.value.requestId), message.value);
        break;
      case "reject":
        this.#rejected(this.#sent(message.value.requestId), fromStatus(message.value.status));
        break;
      case "revoke":
        this.#lose([message.value.leaseId]);
        break;
      case "drain":
        this.#draining = true;
        break;
      case "finished":
        this.#finish(message.value);
        break;
    }
    this.#leaveIfDone();
  }

  #leaveIfDone(): void {
    const done = this.#over || this.#failure !== undefined;
    if (done) this.#outbox.push({ message: { case: "bye", value: {} } });
    if (done || this.#draining) {
      this.#outbox.close();
      this.#within(FAREWELL_MS, "the server kept the stream open");
    }
  }

  /** Sends again what has no Ack, and asks which of the other leases are still held. */
  #welcome(welcome: pb.Welcome): void {
    this.#welcomed = true;
    this.#resumeToken = welcome.resumeToken;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#extend(), 1000 * (welcome.heartbeatSeconds || 20));
    for (const { sent } of this.#held.values()) if (sent) this.#outbox.push(sent);
    this.#extend();
  }

  /** Keeps the leases of the queries that are being decided. */
  #extend(): void {
    const leases = new Map<string, string[]>();
    for (const { query, lease, sent } of this.#held.values()) {
      if (!sent) leases.set(query.session, [...(leases.get(query.session) ?? []), lease]);
    }
    for (const [session, leaseIds] of leases) {
      const requestId = crypto.randomUUID();
      this.#outbox.push({ requestId, message: { case: "extend", value: { session, leaseIds } } });
    }
  }

  #assign(query: pb.Assign): void {
    const held = this.#held.get(keyOf(query));
    if (held) held.lease = query.leaseId;
    else this.#start({ query, lease: query.leaseId, sent: undefined, deciding: new AbortController() });
  }

  #start(held: Held): void {
    held.sent = undefined;
    this.#held.set(keyOf(held.query), held);
    const current = () => this.#held.get(keyOf(held.query)) === held && !held.deciding.signal.aborted;
    void (async () => this.decide(held.query, held.deciding.signal))().then(
      (verdict) => current() && this.#settle(held, verdict),
      (error: unknown) => {
        if (current()) this.#fail(error);
      },
    );
  }

  #settle(held: Held, verdict: Verdict): void {
    const { query, lease } = held;
    const requestId = crypto.randomUUID();
    const message = this.#message(query, lease, verdict, requestId);
    held.sent = { requestId, lease, message };
    this.#held.delete(keyOf(query));
    this.#held.set(keyOf(query), held);
    if (this.#welcomed) this.#outbox.push(held.sent);
  }

  #message(query: pb.Assign, leaseId: string, verdict: Verdict, answerId: string): Message {
    const { session } = query;
    if (verdict === "release") return { case: "release", value: { session, leaseIds: [leaseId] } };
    const given = typeof verdict === "string" ? { verdict } : verdict;
    const common = { session, query: query.query, leaseId };
    if ("skip" in given) return { case: "skip", value: { ...common, mode: SKIPS[given.skip] } };
    const { observationId } = query;
    const provenance = this.labeler.provenance ?? "";
    const value = { ...common, ...given, verdict: VERDICTS[given.verdict], answerId, observationId, provenance };
    return { case: "answer", value };
  }

  /** Ends the dialogue with what a function of the caller threw. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#leaveIfDone();
  }

  /** The query whose request has this id. */
  #sent(requestId: string): Held | undefined {
    return [...this.#held.values()].find(({ sent }) => sent?.requestId === requestId);
  }

  #acked(held: Held | undefined, ack: pb.Ack): void {
    if (!held?.sent) return;
    const sent = held.sent.message?.case;
    if (sent !== "answer" && held.sent.lease !== held.lease) {
      this.#start(held); // declined earlier, and leased anew since
      return;
    }
    this.#held.delete(keyOf(held.query));
    if (sent !== "release") this.#call(() => this.labeler.onAck?.(held.query, ack));
  }

  #rejected(held: Held | undefined, error: SvddtuneError): void {
    if (!held?.sent) return;
    if (held.sent.lease !== held.lease) {
      this.#start(held); // leased anew since
      return;
    }
    this.#held.delete(keyOf(held.query));
    if (this.labeler.onReject) this.#call(() => this.labeler.onReject?.(held.query, error));
    else if (!GONE.has(error.reason)) this.#fail(error);
  }

  #call(hook: () => void): void {
    try {
      hook();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Forgets queries that are being decided. A verdict that was sent gets its Ack or Reject. */
  #lose(leases: readonly string[]): void {
    for (const held of this.#held.values()) {
      if (!held.sent && leases.includes(held.lease)) this.#forget(held);
    }
  }

  #forget(held: Held): void {
    held.deciding.abort();
    this.#held.delete(keyOf(held.query));
  }

  #finish({ session, reason }: pb.Finished): void {
    const name = session?.name ?? "";
    if (this.#sessions.includes(name)) this.#finished.add(name);
    for (const held of this.#held.values()) {
      const lost = !held.sent || reason === pb.FinishReason.DELETED;
      if (held.query.session === name && lost) this.#forget(held);
    }
    this.#call(() => this.labeler.onFinished?.(session, reason));
  }
}

/** A query's number is unique within its session only. */
function keyOf({ session, query }: pb.Assign): string {
  return `${session} ${query}`;
}
