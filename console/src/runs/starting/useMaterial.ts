/** What runs can be about: the data, policies, releases and models that whoever starts one may see. */

import { get } from "../../api/client";
import { useLoading, type Loading } from "../../api/loading";
import type { Dataset, Model, Page, Policy, Release, Releases } from "../../api/types";

export interface Material {
  datasets: readonly Dataset[];
  policies: readonly Policy[];
  releases: readonly Release[];
  models: readonly Model[];
}

export function useMaterial(): Loading<Material> {
  return useLoading<Material>("material", async (signal) => {
    const [datasets, policies, releases, models] = await Promise.all([
      get<Page<Dataset>>("/datasets?limit=200", signal),
      get<Page<Policy>>("/policies?limit=200", signal),
      get<Releases>("/releases", signal),
      get<Page<Model>>("/models?limit=200", signal),
    ]);
    return {
      datasets: datasets.items.filter((one) => one.format != null),
      policies: policies.items.filter((one) => one.published_version != null),
      releases: releases.items,
      models: models.items.filter((one) => one.kind != null),
    };
  });
}
