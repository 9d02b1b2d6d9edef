import type { SvddtuneError } from "./errors.js";
import type * as pb from "./gen/svddtune/v1/oracle_pb.js";
import type { Session } from "./gen/svddtune/v1/tuning_pb.js";

type Word = "inlier" | "outlier" | "unsure";
export const VERDICTS = { inlier: 1, outlier: 2, unsure: 3 } as const;
export const SKIPS = { later: 1, others: 2, drop: 3 } as const;

/** What a labeler says about an observation: a verdict, or that it declines the query or gives it back. */
export type Verdict =
  | Word
  | {
      verdict: Word;
      /** Probability that the verdict is right: above 0.5, at most 1. */
      confidence?: number;
      /** Where the verdict comes from, e.g. a ticket key. */
      sourceReference?: string;
    }
  | { skip: keyof typeof SKIPS }
  /** Gives the query back; it may come again. */
  | "release";

/**
 * Returns the verdict on a query. The signal is aborted if the query goes to somebody else; then the
 * verdict is not needed. An error ends `Client.label`.
 */
export type Decide = (query: pb.Assign, signal: AbortSignal) => Promise<Verdict>;

/** Who labels which sessions. */
export interface Labeler {
  /** 1 to 64 letters, digits and characters of "._@-". */
  name: string;
  /** Names of the sessions to serve; none stands for all. */
  sessions?: readonly string[];
  /** Default: AUTOMATED. */
  kind?: pb.LabelerKind;
  /** Number of queries to decide at once; default 1. With 1, equal seeds give equal queries. */
  credit?: number;
  /** The rule behind the verdicts; it is stored with each of them. */
  provenance?: string;
  /** Called after an answer or a skip is stored. */
  onAck?: (query: pb.Assign, ack: pb.Ack) => void;
  /**
   * Called after a verdict was refused; an error that it throws ends `Client.label`. Without it a
   * refusal ends `Client.label`, unless the query is no longer this labeler's.
   */
  onReject?: (query: pb.Assign, error: SvddtuneError) => void;
  /** Called if a session asks no further queries. */
  onFinished?: (session: Session | undefined, reason: pb.FinishReason) => void;
}
