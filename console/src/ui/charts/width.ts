/** Charts are drawn at the size that they have, so that their text is as large as other text. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** The width of an element in pixels, kept up to date; 0 before it is known. */
export function useWidth<E extends HTMLElement>(): [RefObject<E | null>, number] {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const watching = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watching.observe(element);
    return () => watching.disconnect();
  }, []);
  return [ref, width];
}
