import { useGet } from "../api/loading";
import type { Page, Run } from "../api/types";
import { navigate } from "../app/router";
import { Shown } from "../parts/states";
import { writtenMoment } from "../parts/Time";

interface Props {
  run: Run;
  other?: string;
}

/** The choice of another run of the kind that has succeeded, to see both side by side. */
export function Comparing({ run, other = "" }: Props) {
  const query = new URLSearchParams({ kind: run.kind, state: "succeeded", limit: "100" });
  const { loaded, reload } = useGet<Page<Run>>(`/runs?${query}`);
  return (
    <Shown loaded={loaded} what="other runs" retry={reload}>
      {(page) => {
        const others = page.items.filter((one) => one.id !== run.id);
        if (others.length === 0) return <p className="quiet">No other run of this kind has succeeded yet.</p>;
        return (
          <label className="field">
            <span>Compare with</span>
            <select value={other} onChange={(event) => compare(run.id, event.target.value)}>
              {other === "" && <option value="">Choose a run …</option>}
              {others.map((one) => (
                <option key={one.id} value={one.id}>
                  {runName(one)}
                </option>
              ))}
            </select>
          </label>
        );
      }}
    </Shown>
  );
}

function compare(run: string, other: string): void {
  if (other === "") return;
  navigate(`/runs/${encodeURIComponent(run)}/comparison?with=${encodeURIComponent(other)}`);
}

/** A run by its moment and the beginning of its identifier, which no other of a minute shares. */
export function runName(run: Run): string {
  return `${writtenMoment(run.created)} (${run.id.slice(0, 5)})`;
}
