import { Badge, type Tone } from "../parts/Badge";

const TONES: Record<string, Tone> = { published: "good", released: "good", withdrawn: "quiet" };

export function ReleaseBadge({ state }: { state: string }) {
  return <Badge tone={TONES[state] ?? "warn"}>{state}</Badge>;
}
