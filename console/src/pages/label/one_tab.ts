/** Lets one tab at a time label for one person, so that no question is on two screens. */
import { useEffect, useState } from 'preact/hooks';

// A tab that leaves and comes back, or is loaded anew, may find its own lock still held for a moment.
const MOMENT_MS = 1000;

/** Whether this tab is the one; `take` makes it so. Where the browser has no locks, each tab may. */
export function useOneTab(name: string): { mine: boolean | undefined; take: () => void } {
  const [mine, setMine] = useState<boolean | undefined>();
  const [taking, setTaking] = useState(0);
  useEffect(() => {
    // (Browsers have locks in secure contexts only: TLS, or this machine.)
    if (!('locks' in navigator)) {
      setMine(true);
      return undefined;
    }
    // Ends the wait for the lock; once it is held, nothing.
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), MOMENT_MS);
    let free: () => void = () => undefined;
    let over = false;
    const options: LockOptions = taking ? { steal: true } : { signal: waiting.signal };
    navigator.locks
      .request(name, options, () => {
        if (over) return undefined;
        setMine(true);
        return new Promise<void>((resolve) => {
          free = resolve;
        });
      })
      // Another tab has it, or has taken it.
      .catch(() => !over && setMine(false));
    return () => {
      over = true;
      clearTimeout(timer);
      waiting.abort();
      free();
    };
  }, [name, taking]);
  return { mine, take: () => setTaking((count) => count + 1) };
}
