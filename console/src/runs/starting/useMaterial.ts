/** What runs can be about: the data, policies and releases that whoever starts one may see. */

import { get } from "../../api/client";
import { useLoading, type Loading } from "../../api/loading";
import type { Dataset, Page, Policy, Release, Releases } from "../../api/types";

export interface Material {
  datasets: readonly Dataset[];
  policies: readonly Policy[];
  releases: readonly Release[];
}

export function useMaterial(): Loading<Material> {
  return useLoading<Material>("material", async (signal) => {
    const [datasets, policies, releases] = await Promise.all([
      get<Page<Dataset>>("/datasets?limit=200", signal),
      get<Page<Policy>>("/policies?limit=200", signal),
      get<Releases>("/releases", signal),
    ]);
    return {
      datasets: datasets.items.filter((one) => one.digest != null),
      policies: policies.items.filter((one) => one.published_version != null),
      releases: releases.items,
    };
  });
}
