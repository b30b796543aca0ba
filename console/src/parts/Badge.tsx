import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "warn" | "live" | "quiet";

/** A state in a word; the word says it, the colour only helps. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
