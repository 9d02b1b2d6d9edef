/** Loads what a page shows, again when its inputs change. */
import { useEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  /** The latest value; kept while it is loaded again. */
  value?: T;
  error?: unknown;
  /** Load again. */
  reload: () => void;
}

/** `load` runs at first, whenever `inputs` change, and by `reload`. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [count, setCount] = useState(0);
  const [state, setState] = useState<{ value?: T; error?: unknown }>({});
  useEffect(() => {
    const ending = new AbortController();
    load(ending.signal).then(
      (value) => !ending.signal.aborted && setState({ value }),
      (error: unknown) => !ending.signal.aborted && setState((last) => ({ ...last, error })),
    );
    return () => ending.abort();
  }, [...inputs, count]);
  return { ...state, reload: () => setCount((last) => last + 1) };
}
