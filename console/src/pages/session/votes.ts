/** The label log as the page knows it: the newest entries, and earlier ones as they are asked for. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call, path } from '../../api/call';
import type { LabelEvent, ListLabelsResponse } from '../../api/schema';

const AT_ONCE = 100;

export interface KnownLog {
  /** Newest first; without gaps. */
  all: LabelEvent[];
  /** Whether the first entry of the log is there. */
  complete: boolean;
  loading: boolean;
  error?: unknown;
  /** Load the entries before those that are there: the next ones, or all. */
  further: (all?: boolean) => void;
}

interface Before {
  events: LabelEvent[];
  /** The next page; undefined before the first one, empty after the last one. */
  next?: string;
  loading: boolean;
  error?: unknown;
}

/** `since` are the events since the page was opened. */
export function useLog(name: string, since: LabelEvent[], returns: number): KnownLog {
  const [before, setBefore] = useState<Before>({ events: [], loading: false });
  const ending = useRef(new AbortController());
  const latest = useRef(before);
  const put = (part: Partial<Before>) => {
    latest.current = { ...latest.current, ...part };
    setBefore(latest.current);
  };
  const further = async (all = false): Promise<void> => {
    const { signal } = ending.current;
    if (latest.current.loading) return;
    put({ loading: true, error: undefined });
    try {
      do {
        const query = `pageSize=${all ? 1000 : AT_ONCE}&newestFirst=true&pageToken=${encodeURIComponent(latest.current.next ?? '')}`;
        const page = await call<ListLabelsResponse>(`${path`/v1/${name}/labels`}?${query}`, { signal });
        put({ events: [...latest.current.events, ...(page.events ?? [])], next: page.nextPageToken ?? '' });
      } while (all && latest.current.next);
    } catch (error) {
      if (!signal.aborted) put({ error });
    }
    if (!signal.aborted) put({ loading: false });
  };
  useEffect(() => () => ending.current.abort(), []);
  useEffect(() => {
    // (The service may have been away.)
    if (latest.current.next === undefined) void further();
  }, [returns]);
  const all = useMemo(() => merged(since, before.events), [since, before.events]);
  return { ...before, all, complete: before.next === '', further: (every) => void further(every) };
}

/** Both parts of the log without what is in both, newest first. */
function merged(since: LabelEvent[], before: LabelEvent[]): LabelEvent[] {
  const known = new Map([...[...since].reverse(), ...before].map((one) => [one.eventId, one]));
  return [...known.values()];
}
