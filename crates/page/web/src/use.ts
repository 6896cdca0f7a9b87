// Hooks.

import { useEffect, useState } from "preact/hooks";
import { listen, state, type State } from "./store";

export function useStore(): State {
  const [, redraw] = useState(0);
  useEffect(() => listen(() => redraw((count) => count + 1)) as () => void, []);
  return state;
}

/** The width of an element, also after it has changed. */
export function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver((entries) => setWidth(Math.floor(entries[0]!.contentRect.width)));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return width;
}
