/**
 * What happens to runs, as the service tells it: one stream for all that a tab shows, and questions
 * every few seconds while there is no stream.
 */

import { get, isAbort } from "./client";
import type { Page, Run } from "./types";

export type Way = "stream" | "questions" | "none";
type Listener = (runs: readonly Run[]) => void;

const QUESTIONS_EVERY = 3_000;
const STREAM_AGAIN_AFTER = 30_000;
const listeners = new Set<Listener>();
let source: EventSource | null = null;
let timer = 0;
let controller: AbortController | null = null;

/** Calls `listener` with runs that changed, until the function that is returned is called. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  if (listeners.size === 1) openStream();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stop();
  };
}

function tell(runs: readonly Run[]): void {
  for (const listener of listeners) listener(runs);
}

function openStream(): void {
  source = new EventSource("/api/v1/events");
  source.addEventListener("run", (event: MessageEvent<string>) => tell([JSON.parse(event.data) as Run]));
  source.addEventListener("open", stopQuestions);
  source.addEventListener("error", () => {
    // What is closed is not opened again by the browser itself, as after a refusal.
    const isOver = source?.readyState === EventSource.CLOSED;
    if (isOver) window.setTimeout(openAgain, STREAM_AGAIN_AFTER);
    if (timer === 0) void question();
  });
}

function openAgain(): void {
  if (listeners.size > 0 && source?.readyState === EventSource.CLOSED) openStream();
}

async function question(): Promise<void> {
  timer = window.setTimeout(() => void question(), QUESTIONS_EVERY);
  controller?.abort();
  controller = new AbortController();
  try {
    tell((await get<Page<Run>>("/runs?limit=50", controller.signal)).items);
  } catch (error) {
    if (!isAbort(error)) return; // the service is away: it is asked again
  }
}

function stopQuestions(): void {
  window.clearTimeout(timer);
  timer = 0;
  controller?.abort();
}

function stop(): void {
  source?.close();
  source = null;
  stopQuestions();
}
