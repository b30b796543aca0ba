import { get } from "../api/client";
import { useLoading } from "../api/loading";
import type { Run } from "../api/types";
import { PointChart, type Limit, type Series, type Spread } from "../charts/PointChart";
import { written } from "../charts/scale";
import { Badge } from "../parts/Badge";
import { Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { runName } from "./Comparing";

/** What an exploration leaves for its chart. */
interface TradeOffFile {
  axis: string;
  points: { line: string; label: string; lost: Spread; linked: Spread; is_cheapest: boolean }[];
  lines: { line: string; points: [number, number][] }[];
  bounds: { measure: string; asked: number }[];
}

interface Trade {
  x: string;
  y: string;
  series: Series[];
  limits: Limit[];
  hasRisk: boolean;
}

/** What settings cost and, where they were attacked, what they risk: a chart, and its figures. */
export function TradeOff({ runs }: { runs: readonly Run[] }) {
  const paths = runs.map((run) => `/runs/${encodeURIComponent(run.id)}/artefacts/trade-off.json`);
  const { loaded, reload } = useLoading(paths.join(" "), (signal) =>
    Promise.all(paths.map((path) => get<TradeOffFile>(path, signal))),
  );
  return (
    <section className="panel">
      <h2>Risk and loss by setting</h2>
      <Shown loaded={loaded} what="the chart" retry={reload}>
        {(files) => <Together trades={files.map((file, index) => tradeOf(file, runs[index]!))} runs={runs} />}
      </Shown>
    </section>
  );
}

/** Those of several runs on one chart, as far as they are on the same axes. */
function Together({ trades, runs }: { trades: readonly Trade[]; runs: readonly Run[] }) {
  const [first, ...others] = trades;
  if (first === undefined || others.length === 0) return first && <Drawn trade={first} />;
  if (others.some((one) => one.x !== first.x || one.y !== first.y)) {
    return <p className="quiet">They are not on the same axes: another loss was measured, or one alone was attacked.</p>;
  }
  const series = trades.flatMap((trade, index) =>
    trade.series.map((one) => ({ ...one, name: [runName(runs[index]!), one.name].filter(Boolean).join(", ") })),
  );
  const limits = trades.flatMap((trade) => trade.limits);
  const distinct = [...new Map(limits.map((one) => [one.name, one])).values()];
  return <Drawn trade={{ ...first, series, limits: distinct }} />;
}

function Drawn({ trade }: { trade: Trade }) {
  if (trade.series.length === 0) return <p className="quiet">The table cannot be released at any of the settings.</p>;
  return (
    <div className="chart-and-table">
      <PointChart label={`${trade.y} by ${trade.x}`} {...trade} />
      <Figures trade={trade} />
    </div>
  );
}

function tradeOf(file: TradeOffFile, run: Run): Trade {
  if (file.points.length > 0) return riskOf(file);
  const varied = Object.keys((run.settings["vary"] as Record<string, unknown> | null) ?? {});
  const axis = varied.length === 0 || varied.includes("k") ? "k" : varied[0]!;
  const series = file.lines.map(({ line, points }): Series => ({
    name: line,
    points: points.map(([x, y]) => ({ label: `${axis} = ${written(x)}`, x: exact(x), y: exact(y), isMarked: false })),
  }));
  return { x: axis, y: "what is lost (global certainty penalty)", series, limits: [], hasRisk: false };
}

function riskOf(file: TradeOffFile): Trade {
  const names = [...new Set(file.points.map((one) => one.line))];
  const series = names.map((name): Series => ({
    name,
    points: file.points
      .filter((one) => one.line === name)
      .map((one) => ({ label: one.label, x: one.lost, y: one.linked, isMarked: one.is_cheapest })),
  }));
  const limits = file.bounds.map((one) => ({ name: `bound: at most ${written(one.asked)}`, value: one.asked }));
  const y = "share of persons that the strongest attack links, with its interval";
  return { x: `what is lost: ${file.axis}`, y, series, limits, hasRisk: true };
}

function exact(value: number): Spread {
  return { value, low: value, high: value };
}

function Figures({ trade }: { trade: Trade }) {
  const rows = trade.series.flatMap(({ name, points }) =>
    points.map((point) => ({ setting: [name, point.label].filter(Boolean).join(", "), point })),
  );
  return (
    <TableFrame label="Settings">
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Lost</th>
          {trade.hasRisk && <th scope="col">Linked</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ setting, point }) => (
          <tr key={setting}>
            <th scope="row">
              {setting || "as the policy says"} {point.isMarked && <Badge tone="good">loses least within the bound</Badge>}
            </th>
            <td className="number">{written(trade.hasRisk ? point.x.value : point.y.value)}</td>
            {trade.hasRisk && (
              <td className="number">
                {written(point.y.value)}{" "}
                <span className="fine nowrap">
                  {written(point.y.low)} to {written(point.y.high)}
                </span>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
