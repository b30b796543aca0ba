import { get } from "../api/client";
import { useLoading } from "../api/loading";
import type { Lineage } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { lastPart } from "../parts/Name";
import { Shown } from "../parts/states";
import { LineageGraph, type LineageNode } from "./LineageGraph";

/** Where something comes from, what was made of it, and who may read it: one hop, drawn and listed. */
export function LineagePanel({ path, round }: { path: string; round: string }) {
  const { loaded, reload } = useLoading(`${path}/lineage ${round}`, (signal) =>
    get<Lineage>(`${path}/lineage`, signal),
  );
  return (
    <section className="panel">
      <h2>Lineage</h2>
      <Shown loaded={loaded} what="the lineage" retry={reload}>
        {(lineage) => <OneHop lineage={lineage} />}
      </Shown>
    </section>
  );
}

function OneHop({ lineage }: { lineage: Lineage }) {
  const seesSources = has(useMe(), "owner", "steward", "auditor");
  const sources = lineage.made_from.map((one): LineageNode => ({
    iri: one.iri,
    note: "data",
    to: seesSources ? `/data/${encodeURIComponent(one.dataset)}` : "",
  }));
  const made = lineage.made.map((one): LineageNode => ({
    iri: one.output,
    note: `release, ${one.state}`,
    to: `/releases/${encodeURIComponent(one.id)}`,
  }));
  return (
    <div className="lineage">
      {sources.length + made.length > 0 && <LineageGraph iri={lineage.iri} sources={sources} made={made} />}
      <dl className="facts">
        {sources.length > 0 && (
          <>
            <dt>Made from</dt>
            <dd>
              <Nodes nodes={sources} />
            </dd>
            <dt>By</dt>
            <dd>
              <Making lineage={lineage} seesAll={seesSources} />
            </dd>
          </>
        )}
        <dt>Made of it</dt>
        <dd>{made.length === 0 ? <span className="quiet">nothing yet</span> : <Nodes nodes={made} />}</dd>
        <dt>Who may read it</dt>
        <dd>
          <Readers lineage={lineage} />
        </dd>
      </dl>
    </div>
  );
}

function Nodes({ nodes }: { nodes: readonly LineageNode[] }) {
  return (
    <ul className="plain">
      {nodes.map((node, index) => (
        <li key={`${node.to} ${index}`}>
          {node.to ? <Link to={node.to}>{node.iri}</Link> : node.iri} <span className="fine">{node.note}</span>
        </li>
      ))}
    </ul>
  );
}

function Making({ lineage, seesAll }: { lineage: Lineage; seesAll: boolean }) {
  const policy = lineage.policy ?? "";
  const run = lineage.run ?? "";
  if (!seesAll) return <>a policy, version {lineage.version}</>;
  return (
    <>
      <Link to={`/policies/${encodeURIComponent(policy)}`}>its policy</Link>, version {lineage.version}, in{" "}
      <Link to={`/runs/${encodeURIComponent(run)}`}>a run</Link>
    </>
  );
}

/** Who may read it by the policies in force: parties, each with its purposes. */
function Readers({ lineage }: { lineage: Lineage }) {
  const purposes = new Map<string, string[]>();
  for (const one of lineage.readers) {
    purposes.set(one.assignee, [...(purposes.get(one.assignee) ?? []), one.purpose]);
  }
  if (purposes.size === 0) return <span className="quiet">nobody that you may know of, by the policies in force</span>;
  return (
    <ul className="plain">
      {[...purposes].map(([assignee, some]) => (
        <li key={assignee}>
          {assignee || "everybody"}{" "}
          <span className="fine">
            {some.includes("") ? "for any purpose" : `for ${some.map(lastPart).join(", ")}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
