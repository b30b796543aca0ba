import { useEffect, useRef, useState, type RefObject } from "react";

/** How wide an element is, in pixels, as long as it is shown: charts keep the size of their words. */
export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watched = element.current;
    if (watched === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(watched);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
