/** Lets one tab at a time label for one person, so that no question is on two screens. */
import { useEffect, useState } from 'preact/hooks';

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
    let free: () => void = () => undefined;
    let over = false;
    const held = () =>
      new Promise<void>((resolve) => {
        free = resolve;
        if (over) resolve();
      });
    const options: LockOptions = taking ? { steal: true } : { ifAvailable: true };
    navigator.locks
      .request(name, options, async (lock) => {
        if (over) return;
        setMine(lock !== null);
        if (lock) await held();
      })
      // Another tab has taken it.
      .catch(() => !over && setMine(false));
    return () => {
      over = true;
      free();
    };
  }, [name, taking]);
  return { mine, take: () => setTaking((count) => count + 1) };
}
