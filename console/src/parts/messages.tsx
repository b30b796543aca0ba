/** Short messages about what was just done, read aloud by screen readers. */

import { useEffect, useState, useSyncExternalStore } from "react";

interface Message {
  id: number;
  text: string;
}

let shown: Message | null = null;
let count = 0;
const listeners = new Set<() => void>();

export function say(text: string): void {
  shown = { id: ++count, text };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const LONG = 5_000;

export function Messages() {
  const message = useSyncExternalStore(subscribe, () => shown);
  const [over, setOver] = useState(0);
  useEffect(() => {
    if (message === null) return;
    const timer = window.setTimeout(() => setOver(message.id), LONG);
    return () => window.clearTimeout(timer);
  }, [message]);
  const isShown = message !== null && message.id !== over;
  return (
    <div className="messages" role="status" aria-live="polite">
      {isShown && <p>{message.text}</p>}
    </div>
  );
}
