import { useState } from "react";
import { useGet } from "../api/loading";
import type { LogEntry, Page } from "../api/types";
import { setQuery, useQuery } from "../app/router";
import { Badge } from "../parts/Badge";
import { DecisionView } from "../parts/DecisionView";
import { Head } from "../parts/Head";
import { Name } from "../parts/Name";
import { Sheet } from "../parts/Sheet";
import { Empty, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";
import { has, useMe } from "../app/session";
import { Sections } from "./Sections";
import { Verifying } from "./Verifying";

const FILTERS = ["effect", "assignee", "target"] as const;
type Filter = Record<(typeof FILTERS)[number], string>;

export default function DecisionList() {
  const query = useQuery();
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""])) as Filter;
  const { loaded, reload } = useGet<Page<LogEntry>>(`/decisions?limit=200`);
  const mayVerify = has(useMe(), "owner", "auditor");
  return (
    <>
      <Head
        title="Decisions"
        about="Every request that was decided, in the order of the log. Each entry holds the digest of the one before it, so that none can be changed or left out unnoticed."
      />
      <Sections />
      {mayVerify && <Verifying path="/decisions:verify" what="the log" />}
      <Filters filter={filter} />
      <Shown loaded={loaded} what="decisions" retry={reload}>
        {(page) => <Found all={page.items} filter={filter} />}
      </Shown>
    </>
  );
}

function Filters({ filter }: { filter: Filter }) {
  return (
    <form className="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label className="field">
        <span>Outcome</span>
        <select value={filter.effect} onChange={(event) => setQuery({ ...filter, effect: event.target.value })}>
          <option value="">All</option>
          <option value="permit">Permitted</option>
          <option value="deny">Denied</option>
        </select>
      </label>
      <label className="field">
        <span>Who</span>
        <input value={filter.assignee} onChange={(event) => setQuery({ ...filter, assignee: event.target.value })} />
      </label>
      <label className="field">
        <span>Data</span>
        <input value={filter.target} onChange={(event) => setQuery({ ...filter, target: event.target.value })} />
      </label>
    </form>
  );
}

function fits(entry: LogEntry, filter: Filter): boolean {
  const { effect, request } = entry.decision;
  return (
    (!filter.effect || effect === filter.effect) &&
    request.assignee.includes(filter.assignee) &&
    (!filter.target || request.targets.some((target) => target.includes(filter.target)))
  );
}

function Found({ all, filter }: { all: readonly LogEntry[]; filter: Filter }) {
  const [shown, setShown] = useState<LogEntry | null>(null);
  if (all.length === 0) {
    return (
      <Empty title="Nothing was decided yet">
        <p>Requests for access and queries are logged here, whether they were permitted or denied.</p>
      </Empty>
    );
  }
  const found = all.filter((entry) => fits(entry, filter));
  if (found.length === 0) {
    return (
      <Empty title="No decision fits the filters">
        <p>
          <button type="button" onClick={() => setQuery({})}>
            Show all decisions
          </button>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <TableFrame label="Decisions">
        <thead>
          <tr>
            <th scope="col">No.</th>
            <th scope="col">When</th>
            <th scope="col">Outcome</th>
            <th scope="col">Who</th>
            <th scope="col">Action</th>
            <th scope="col">Data</th>
            <th scope="col">Purpose</th>
            <th scope="col">
              <span className="hidden">Explanation</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {found.map((entry) => (
            <Row key={entry.number} entry={entry} show={() => setShown(entry)} />
          ))}
        </tbody>
      </TableFrame>
      {shown && (
        <Sheet title={`Decision ${shown.number}`} close={() => setShown(null)}>
          <DecisionView decision={shown.decision} />
          <p className="fine">
            Digest <code className="iri">{shown.hash}</code>
          </p>
          <div className="actions">
            <button type="button" onClick={() => setShown(null)}>
              Close
            </button>
          </div>
        </Sheet>
      )}
    </>
  );
}

function Row({ entry, show }: { entry: LogEntry; show: () => void }) {
  const { effect, request } = entry.decision;
  return (
    <tr>
      <td className="number">{entry.number}</td>
      <td>
        <Time at={entry.logged} />
      </td>
      <td>
        <Badge tone={effect === "permit" ? "good" : "bad"}>{effect}</Badge>
      </td>
      <td>
        <Name iri={request.assignee} />
      </td>
      <td>
        <Name iri={request.action} />
      </td>
      <td>
        {request.targets.map((target, index) => (
          <span key={target}>
            {index > 0 && ", "}
            <Name iri={target} />
          </span>
        ))}
      </td>
      <td>{request.purpose ? <Name iri={request.purpose} /> : <span className="quiet">none</span>}</td>
      <td>
        <button type="button" className="small" aria-label={`Explain decision ${entry.number}`} onClick={show}>
          Explain
        </button>
      </td>
    </tr>
  );
}
