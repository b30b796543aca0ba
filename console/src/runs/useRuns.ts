/** Runs as they are now: loaded once, and then kept up to date by what the service tells. */

import { useEffect } from "react";
import { listen } from "../api/events";
import { useGet, type Loading } from "../api/loading";
import type { Page, Run } from "../api/types";

export function useRuns(filter: { kind: string; state: string }): Loading<Page<Run>> {
  const query = new URLSearchParams({ limit: "100" });
  if (filter.kind) query.set("kind", filter.kind);
  if (filter.state) query.set("state", filter.state);
  const loading = useGet<Page<Run>>(`/runs?${query}`);
  const { replace } = loading;
  const { kind, state } = filter;
  useEffect(() => {
    const fits = (run: Run) => (!kind || run.kind === kind) && (!state || run.state === state);
    return listen((runs) => replace((page) => ({ ...page, items: merged(page.items, runs).filter(fits) })));
  }, [replace, kind, state]);
  return loading;
}

/** The runs that were shown with what changed in them, and those that are new, the newest first. */
export function merged(shown: readonly Run[], changed: readonly Run[]): Run[] {
  const byId = new Map(shown.map((run) => [run.id, run]));
  for (const run of changed) byId.set(run.id, run);
  return [...byId.values()].sort((one, two) => two.created.localeCompare(one.created));
}

export function useRun(id: string): Loading<Run> {
  const loading = useGet<Run>(`/runs/${encodeURIComponent(id)}`);
  const { replace } = loading;
  useEffect(
    () =>
      listen((runs) => {
        const now = runs.find((run) => run.id === id);
        if (now) replace(() => now);
      }),
    [id, replace],
  );
  return loading;
}
