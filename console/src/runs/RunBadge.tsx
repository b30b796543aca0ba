import type { RunState } from "../api/types";
import { Badge, type Tone } from "../parts/Badge";

const TONES: Record<RunState, Tone> = {
  queued: "quiet",
  running: "live",
  cancelling: "warn",
  succeeded: "good",
  failed: "bad",
  cancelled: "quiet",
};

export function RunBadge({ state }: { state: RunState }) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}
