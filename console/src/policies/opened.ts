/** A policy that is open, with the version that is shown of it. */

import { ask, get } from "../api/client";
import type { Policy, Version, VersionText } from "../api/types";

export interface Opened {
  policy: Policy;
  version: VersionText;
  /** What the next draft is based on. */
  etag: string;
}

/** The latest version is what is worked on; older ones are looked at. */
export function latestOf(policy: Policy): Version {
  return policy.versions.reduce((one, two) => (two.number > one.number ? two : one), policy.versions[0]!);
}

export async function open(id: string, asked: string, signal: AbortSignal): Promise<Opened> {
  const path = `/policies/${encodeURIComponent(id)}`;
  const { value: policy, etag } = await ask<Policy>("GET", path, { signal });
  const number = Number(asked) || latestOf(policy).number;
  const version = await get<VersionText>(`${path}/versions/${number}`, signal);
  return { policy, version, etag };
}
