import type { ReleaseState } from "../api/types";
import { Badge, type Tone } from "../parts/Badge";

const TONES: Record<ReleaseState, Tone> = { available: "good", replaced: "quiet", withdrawn: "bad" };

export function ReleaseBadge({ state }: { state: ReleaseState }) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}
