/** Loads what a page shows, and again every few seconds while somebody can see it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ServiceError } from '../api/call';

export interface Polled<T> {
  /** The latest value; it stays while it is loaded again, so that nothing flickers. */
  value?: T;
  /** Why the service refuses. */
  error?: unknown;
  /** The service cannot be reached now; it is tried again. */
  away: boolean;
  /** Load again at once. */
  reload: () => void;
}

/** `load` runs at first, whenever `inputs` change, every `seconds`, and when the page is seen again. */
export function usePolled<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: unknown[],
  seconds: number,
): Polled<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown; away: boolean }>({ away: false });
  const again = useRef<() => void>(() => undefined);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let running = false;
    const run = async () => {
      clearTimeout(timer);
      if (running) return;
      running = true;
      try {
        const value = await load(ending.signal);
        if (!ending.signal.aborted) setState({ value, away: false });
      } catch (error) {
        if (ending.signal.aborted) return;
        const refused = error instanceof ServiceError && !error.passing;
        setState((last) => ({ ...last, ...(refused ? { error } : {}), away: !refused }));
      } finally {
        running = false;
      }
      clearTimeout(timer);
      if (!ending.signal.aborted && !document.hidden) timer = setTimeout(() => void run(), 1000 * seconds);
    };
    const seen = () => {
      if (!document.hidden) void run();
    };
    again.current = () => void run();
    document.addEventListener('visibilitychange', seen);
    void run();
    return () => {
      ending.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, inputs);
  return { ...state, reload: () => again.current() };
}
