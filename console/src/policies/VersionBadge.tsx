import type { VersionState } from "../api/types";
import { Badge, type Tone } from "../parts/Badge";

const TONES: Record<VersionState, Tone> = {
  draft: "warn",
  proposed: "live",
  published: "good",
  replaced: "quiet",
  withdrawn: "quiet",
};

export function VersionBadge({ state }: { state: VersionState }) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}
