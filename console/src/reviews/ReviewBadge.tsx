import type { ReviewState } from "../api/types";
import { Badge, type Tone } from "../parts/Badge";

const TONES: Record<ReviewState, Tone> = { open: "warn", accepted: "good", rejected: "bad" };
const WORDS: Record<ReviewState, string> = { open: "waits", accepted: "accepted", rejected: "rejected" };

export function ReviewBadge({ state }: { state: ReviewState }) {
  return <Badge tone={TONES[state]}>{WORDS[state]}</Badge>;
}
