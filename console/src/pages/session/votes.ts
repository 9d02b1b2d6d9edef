/** The label log as the page knows it, and the labels that follow from it. */
import { useMemo } from 'preact/hooks';
import { call, path } from '../../api/call';
import type { LabelEvent } from '../../api/schema';
import { useLoad } from '../../ui/load';

export interface KnownLog {
  /** Newest first. */
  all: LabelEvent[];
  /** Whether the entries from before the page was opened are there. */
  complete: boolean;
  error?: unknown;
}

/** The log: what was there when the page was opened, and the events since. */
export function useLog(name: string, events: LabelEvent[], returns: number): KnownLog {
  const { value, error } = useLoad((signal) => allLabels(name, signal), [name, returns]);
  const all = useMemo(() => merged(value ?? [], events), [value, events]);
  return { all, complete: value !== undefined, error };
}

/** The whole log; a session has at most some thousand labels. */
async function allLabels(name: string, signal: AbortSignal): Promise<LabelEvent[]> {
  const found: LabelEvent[] = [];
  let token = '';
  do {
    const page = await call<{ events: LabelEvent[]; nextPageToken: string }>(
      `${path`/v1/${name}/labels`}?pageSize=1000&pageToken=${encodeURIComponent(token)}`,
      { signal },
    );
    found.push(...page.events);
    token = page.nextPageToken;
  } while (token);
  return found;
}

/** Both parts of the log without what is in both, newest first. */
function merged(before: LabelEvent[], since: LabelEvent[]): LabelEvent[] {
  const known = new Map([...before, ...since].map((one) => [one.eventId, one]));
  return [...known.values()].reverse();
}

export type Label = 'inlier' | 'outlier' | 'unsure';

/** Row -> what most of its votes in force say; a tie is unsure. `all` is newest first. */
export function labelsOf(all: LabelEvent[]): Map<number, Label> {
  const votes = new Map<number, Map<string, string>>();
  const void_ = new Set<string>();
  for (const one of [...all].reverse()) {
    const labeler = one.labeler ?? '';
    if (one.kind === 'KIND_WITHDRAWN') void_.add(labeler);
    if (one.kind === 'KIND_REINSTATED') void_.delete(labeler);
    if (one.kind !== 'KIND_LABELED' && one.kind !== 'KIND_RETRACTED') continue;
    const row = one.row ?? 0;
    const held = votes.get(row) ?? new Map<string, string>();
    if (one.kind === 'KIND_LABELED') held.set(labeler, one.verdict ?? '');
    else held.delete(labeler);
    votes.set(row, held);
  }
  const found = new Map<number, Label>();
  for (const [row, held] of votes) {
    const counting = [...held].filter(([labeler]) => !void_.has(labeler)).map(([, verdict]) => verdict);
    if (counting.length) found.set(row, most(counting));
  }
  return found;
}

function most(verdicts: string[]): Label {
  const count = (verdict: string) => verdicts.filter((one) => one === verdict).length;
  const more = count('VERDICT_OUTLIER') - count('VERDICT_INLIER');
  if (more === 0) return 'unsure';
  return more > 0 ? 'outlier' : 'inlier';
}
