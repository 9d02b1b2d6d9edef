/** What a labeler has said, as it is kept and sent: each has an id, so that it counts once. */
import { call, path } from '../../api/call';
import type { Ack, SkipMode, Verdict } from '../../api/schema';

interface Said {
  /** The service knows a repeated one by it. */
  id: string;
  labeler: string;
  session: string;
  observationId: string;
  /** 0 for an unasked answer and for a retraction. */
  query: number;
  leaseId: string;
}

/** A verdict; unasked where it replaces one that was taken back. */
export interface AnswerItem extends Said {
  kind: 'answer';
  verdict: Verdict;
  confidence?: number;
}

export interface SkipItem extends Said {
  kind: 'skip';
  mode: SkipMode;
}

export interface RetractItem extends Said {
  kind: 'retract';
}

export type Item = AnswerItem | SkipItem | RetractItem;

/** 128 random bits as hexadecimal digits. (crypto.randomUUID is missing in pages without TLS.) */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Send one; returns its Ack. Throws ServiceError or Unreachable. */
export async function send(item: Item, signal: AbortSignal): Promise<Ack> {
  const { labeler, session } = item;
  const post = (address: string, body: unknown) => call<{ ack: Ack }>(address, { body, signal });
  const said = { labeler, [item.kind]: request(item) };
  const address = { answer: path`/v1/${session}:answer`, skip: path`/v1/${session}:skip`, retract: path`/v1/${session}:retract` };
  return (await post(address[item.kind], said)).ack;
}

function request(item: Item): unknown {
  const { id: answerId, query, leaseId, observationId } = item;
  if (item.kind === 'skip') return { query, leaseId, mode: item.mode };
  if (item.kind === 'retract') return { answerId, observationId };
  const { verdict, confidence } = item;
  return { answerId, observationId, verdict, confidence, ...(query ? { query, leaseId } : { replace: true }) };
}
