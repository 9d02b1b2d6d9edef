/** What the page knows of its session: the latest state of it, and the label log. */
import { useEffect, useState } from 'preact/hooks';
import { greet, may, server } from '../../api/caller';
import { call, path, ServiceError } from '../../api/call';
import { pause } from '../../api/pause';
import type { LabelEvent, Session } from '../../api/schema';
import { watch } from '../../api/watch';

export interface Watched {
  session?: Session;
  /** Label events since the page was opened; those before come from ListLabels. */
  events: LabelEvent[];
  /** The service cannot be reached now. */
  away: boolean;
  error?: unknown;
  /** How often the service came back: what is loaded beside has to be loaded again. */
  returns: number;
}

/** With `show`, which takes what an action has returned. */
export type Followed = Watched & { show: (session: Session) => void };

const START: Watched = { events: [], away: false, returns: 0 };
const LOOK_MS = 3000;

/** Follow a session. Labelers, who may not watch the votes of others, look again every few seconds. */
export function useWatched(name: string): Followed {
  const [state, setState] = useState(START);
  const show = (session: Session) => setState((last) => ({ ...last, session: newer(last.session, session) }));
  useEffect(() => {
    const ending = new AbortController();
    // (Right after signing in, the role may be another than the one that was refused.)
    setState((last) => (last.error === undefined ? last : { ...last, error: undefined }));
    const changed = (session: Session, events: LabelEvent[] = []) =>
      setState((last) => ({ ...last, session, events: events.length ? [...last.events, ...events] : last.events }));
    const away = (is: boolean) => {
      // (The page was opened while the service was away, so nobody knows the role yet.)
      if (!is && !server.value) greet().catch(() => undefined);
      setState((last) => (last.away === is ? last : { ...last, away: is, returns: last.returns + (is ? 0 : 1) }));
    };
    const follow = may.read.value ? watch : look;
    follow(name, changed, away, ending.signal).catch(
      (error: unknown) => !ending.signal.aborted && setState((last) => ({ ...last, error })),
    );
    return () => ending.abort();
  }, [name, may.read.value]);
  return { ...state, show };
}

/** The answer to an action may arrive after the same or a later state that the stream has brought, which says more:
 * why nothing goes on, for example. */
function newer(one: Session | undefined, other: Session): Session {
  if (!one) return other;
  return Date.parse(other.updateTime ?? '') > Date.parse(one.updateTime ?? '') ? { ...one, ...other } : one;
}

async function look(
  name: string,
  changed: (session: Session) => void,
  away: (is: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      changed((await call<{ session: Session }>(path`/v1/${name}`, { signal })).session);
      away(false);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ServiceError && !error.passing) throw error;
      away(true);
    }
    await pause(LOOK_MS, signal);
  }
}

/** Changes when what is computed every few labels, the map and the atlas, may have changed. */
export function figuresOf(session: Session): string {
  const { detectors, live, counts } = session;
  if (detectors) return `${detectors.labels} ${session.state}`;
  return [counts?.total, live?.labels, session.atlasProgress, session.state].join(' ');
}
