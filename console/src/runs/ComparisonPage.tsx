import { useState } from "react";
import { get } from "../api/client";
import { useLoading } from "../api/loading";
import type { Run, RunComparison } from "../api/types";
import { Link, useQuery } from "../app/router";
import { Legend } from "../charts/Dot";
import { PairLine } from "../charts/PairLine";
import { written } from "../charts/scale";
import { Head } from "../parts/Head";
import { Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Comparing, runName } from "./Comparing";
import { kindName } from "./kinds";
import { TradeOff } from "./TradeOff";

interface Opened {
  first: Run;
  second: Run;
  comparison: RunComparison;
}

async function open(first: string, second: string, signal: AbortSignal): Promise<Opened> {
  const [one, other] = [encodeURIComponent(first), encodeURIComponent(second)];
  return {
    first: await get<Run>(`/runs/${one}`, signal),
    second: await get<Run>(`/runs/${other}`, signal),
    comparison: await get<RunComparison>(`/runs/${one}/comparison?with=${other}`, signal),
  };
}

/** Two runs of a kind: what they were asked for, and their figures on one chart. */
export default function ComparisonPage({ id }: { id: string }) {
  const other = useQuery().get("with") ?? "";
  const { loaded, reload } = useLoading(`${id} ${other}`, (signal) => open(id, other, signal));
  return (
    <>
      <p className="crumb">
        <Link to="/runs">Runs</Link> / <Link to={`/runs/${encodeURIComponent(id)}`}>this run</Link>
      </p>
      <Shown loaded={loaded} what="both runs" retry={reload}>
        {(opened) => <Compared opened={opened} />}
      </Shown>
    </>
  );
}

function Compared({ opened }: { opened: Opened }) {
  const { first, second, comparison } = opened;
  const names = [runName(first), runName(second)] as const;
  return (
    <>
      <Head title="Two runs compared" about={kindName(comparison.kind)}>
        <Comparing run={first} other={second.id} />
      </Head>
      <div className="stack">
        <section className="panel">
          <h2>What they were asked for</h2>
          <SettingTable settings={comparison.settings} names={names} />
        </section>
        {comparison.kind === "explore" && <TradeOff runs={[first, second]} />}
        <section className="panel">
          <h2>Their figures</h2>
          <Figures comparison={comparison} names={names} />
        </section>
      </div>
    </>
  );
}

type Names = readonly [string, string];

function SettingTable({ settings, names }: { settings: RunComparison["settings"]; names: Names }) {
  if (settings.length === 0) return <p className="quiet">They were asked for the same.</p>;
  return (
    <TableFrame label="Settings that differ">
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {settings.map((one) => (
          <tr key={one.setting}>
            <th scope="row">{one.setting.replaceAll("_", " ")}</th>
            <td className="iri wide">{worded(one.first)}</td>
            <td className="iri wide">{worded(one.second)}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function worded(value: unknown): string {
  if (value === null || value === undefined || value === "") return "not said";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const ROUND = 25;

function Figures({ comparison, names }: { comparison: RunComparison; names: Names }) {
  const [isAll, setAll] = useState(false);
  const [sought, setSought] = useState("");
  const [most, setMost] = useState(ROUND);
  const wanted = comparison.figures
    .filter(
      (one) =>
        (isAll || one.first !== one.second) &&
        `${one.artefact} ${placeName(one.figure)}`.toLowerCase().includes(sought.trim().toLowerCase()),
    )
    .sort((one, two) => gapOf(two) - gapOf(one));
  return (
    <>
      <div className="filters">
        <label className="field">
          <span>Named</span>
          <input type="search" value={sought} onChange={(event) => setSought(event.target.value)} />
        </label>
        <label className="check">
          <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.target.checked)} />
          <span>Those too that are the same</span>
        </label>
      </div>
      {wanted.length === 0 ? (
        <p className="quiet">{sought ? "No figure has such a name." : "No figure differs."}</p>
      ) : (
        <>
          <Legend names={names} />
          <FigureTable figures={wanted.slice(0, most)} names={names} />
        </>
      )}
      {wanted.length > most && (
        <button type="button" onClick={() => setMost(most + ROUND)}>
          Show more ({wanted.length - most} are left)
        </button>
      )}
      {comparison.is_cut && <p className="fine">They have more figures than are compared here.</p>}
    </>
  );
}

function FigureTable({ figures, names }: { figures: RunComparison["figures"]; names: Names }) {
  return (
    <TableFrame label="Figures">
      <thead>
        <tr>
          <th scope="col">Figure</th>
          <th scope="col" className="drawing">
            Drawn, each on its own scale
          </th>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {figures.map((one) => (
          <tr key={`${one.artefact} ${one.figure}`}>
            <th scope="row" className="wide">
              {placeName(one.figure)}
              <p className="fine">{one.artefact}</p>
            </th>
            <td className="drawing">
              <PairLine first={one.first ?? null} second={one.second ?? null} low={one.scale.low} high={one.scale.high} />
            </td>
            <td className="number">{figureOf(one.first)}</td>
            <td className="number">{figureOf(one.second)}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

/** How far the values of a figure are apart on its scale; figures of one run alone come last. */
function gapOf({ first, second, scale }: RunComparison["figures"][number]): number {
  if (first == null || second == null) return -1;
  return Math.abs(first - second) / (scale.high - scale.low || 1);
}

function figureOf(value: number | null | undefined): string {
  return value == null ? "none" : written(value);
}

/** The place of a figure in its artefact, a pointer, in words. */
function placeName(pointer: string): string {
  const parts = pointer.split("/").filter((part) => part !== "" && part !== "pe:certificate");
  return parts.map((part) => part.replaceAll("_", " ").replaceAll("~1", "/").replaceAll("~0", "~")).join(" › ");
}
