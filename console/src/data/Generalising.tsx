import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Dataset, Generalised } from "../api/types";
import { Refused } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { figure } from "../releases/certificate";

const WAYS: Record<string, string> = {
  "": "As its kind asks for",
  range: "Ranges",
  interval: "Intervals of a hierarchy",
  prefix: "Prefixes",
  calendar: "Calendar: month, year, decade",
  set: "Sets of values",
  taxonomy: "A taxonomy of my own",
};

interface Found {
  column: string;
  levels: Generalised["levels"];
}

/** What a column becomes when it is generalised, level by level. */
export function Generalising({ dataset, path }: { dataset: Dataset; path: string }) {
  const [way, setWay] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function preview(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setFound(null);
    setRefusal(null);
    try {
      const column = String(form.get("column"));
      const asked = await askedFor(column, way, form);
      setFound({ column, levels: (await post<Generalised>(`${path}:generalise`, asked)).levels });
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section className="panel">
      <h2>What a column becomes</h2>
      <form className="filters" onSubmit={(event) => void preview(event)}>
        <label className="field">
          <span>Column</span>
          <select name="column">
            {inOrder(dataset.columns).map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Generalised by</span>
          <select value={way} onChange={(event) => setWay(event.target.value)}>
            {Object.entries(WAYS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {way === "taxonomy" && (
          <label className="field">
            <span>Taxonomy (.csv, .json, .ttl or .jsonld)</span>
            <input required type="file" name="taxonomy" accept=".csv,.json,.ttl,.jsonld" />
          </label>
        )}
        <button type="submit" disabled={isBusy}>
          {isBusy ? "Looking …" : "Show its levels"}
        </button>
      </form>
      {refusal && <Refused refusal={refusal} />}
      {found && <Levels found={found} />}
    </section>
  );
}

/** The columns that policies make coarser first. */
function inOrder(columns: Dataset["columns"]): Dataset["columns"] {
  const isFirst = (one: Dataset["columns"][number]) => Number(one.role !== "quasi-identifier");
  return [...columns].sort((one, two) => isFirst(one) - isFirst(two));
}

async function askedFor(column: string, way: string, form: FormData): Promise<object> {
  const settings = way === "" ? {} : { generalization: way };
  const file = form.get("taxonomy");
  if (!(file instanceof File)) return { column, settings };
  const ending = /\.\w+$/.exec(file.name)?.[0] ?? ".csv";
  return { column, settings, taxonomy: await file.text(), taxonomy_name: `taxonomy${ending}` };
}

function Levels({ found }: { found: Found }) {
  const hasLabels = found.levels.some((level) => (level.groups ?? []).length > 0);
  return (
    <>
      <TableFrame label={`Levels of ${found.column}`}>
        <thead>
          <tr>
            <th scope="col">Level</th>
            <th scope="col">Groups</th>
            <th scope="col">Fewest rows</th>
            <th scope="col">Median</th>
            <th scope="col">Most rows</th>
            {hasLabels && <th scope="col">The largest groups</th>}
          </tr>
        </thead>
        <tbody>
          {found.levels.map((level) => (
            <tr key={level.height}>
              <th scope="row">{level.height === 0 ? "0, as it is" : level.height}</th>
              <td className="number">{figure(level.group_count)}</td>
              <td className="number">{figure(level.smallest)}</td>
              <td className="number">{figure(level.median)}</td>
              <td className="number">{figure(level.largest)}</td>
              {hasLabels && <td className="wide">{largest(level)}</td>}
            </tr>
          ))}
        </tbody>
      </TableFrame>
      {!hasLabels && <p className="fine">Labels are made of values: only the owner of the data sees them.</p>}
    </>
  );
}

function largest(level: Generalised["levels"][number]): string {
  const shown = (level.groups ?? []).slice(0, 5).map((one) => `${one.label} (${figure(one.rows)})`);
  return shown.join(", ");
}
