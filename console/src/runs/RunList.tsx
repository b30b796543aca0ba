import { useState } from "react";
import type { Refusal } from "../api/problems";
import type { Run, RunState } from "../api/types";
import { Link, setQuery, useQuery } from "../app/router";
import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { Empty, Refused, Shown } from "../parts/states";
import { spanOf, Time } from "../parts/Time";
import { kindName, KNOWN_KINDS } from "./kinds";
import { Progress } from "./Progress";
import { RunActions } from "./RunActions";
import { RunBadge } from "./RunBadge";
import { merged, useRuns } from "./useRuns";

const STATES: readonly RunState[] = ["queued", "running", "cancelling", "succeeded", "failed", "cancelled"];

export default function RunList() {
  const query = useQuery();
  const filter = { kind: query.get("kind") ?? "", state: query.get("state") ?? "" };
  const { loaded, reload, replace } = useRuns(filter);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const changed = (run: Run) => replace((page) => ({ ...page, items: merged(page.items, [run]) }));
  return (
    <>
      <Head
        title="Runs"
        about="Sanitising data and attacking what is to be released take a while. Runs go on when this page is closed."
      >
        {has(useMe(), "steward") && (
          <Link className="button primary" to="/runs/new">
            New run
          </Link>
        )}
      </Head>
      <Filters filter={filter} />
      {refusal && <Refused refusal={refusal} />}
      <Shown loaded={loaded} what="runs" retry={reload}>
        {(page) =>
          page.items.length === 0 ? (
            <NoRuns isFiltered={filter.kind !== "" || filter.state !== ""} />
          ) : (
            <RunTable runs={page.items} changed={changed} refused={setRefusal} />
          )
        }
      </Shown>
    </>
  );
}

function Filters({ filter }: { filter: { kind: string; state: string } }) {
  return (
    <form className="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label className="field">
        <span>State</span>
        <select value={filter.state} onChange={(event) => setQuery({ ...filter, state: event.target.value })}>
          <option value="">All</option>
          {STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>What it does</span>
        <select value={filter.kind} onChange={(event) => setQuery({ ...filter, kind: event.target.value })}>
          <option value="">Anything</option>
          {KNOWN_KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {kindName(kind)}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No run fits the filters">
        <p>
          <button type="button" onClick={() => setQuery({})}>
            Show all runs
          </button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has run yet">
      <ol className="steps">
        <li>
          An owner <Link to="/policies">publishes a policy</Link>.
        </li>
        <li>
          A steward uploads the data that it is about, looks at the plan, and starts the run.
        </li>
        <li>Its progress is shown here, and its result under Releases.</li>
      </ol>
    </Empty>
  );
}

interface TableProps {
  runs: readonly Run[];
  changed: (run: Run) => void;
  refused: (refusal: Refusal) => void;
}

function RunTable({ runs, changed, refused }: TableProps) {
  const columns: ListColumn<Run>[] = [
    {
      name: "Run",
      cell: (run) => <Link to={`/runs/${encodeURIComponent(run.id)}`}>{kindName(run.kind)}</Link>,
    },
    { name: "State", cell: (run) => <RunBadge state={run.state} /> },
    { name: "Progress", cell: (run) => <Progress run={run} /> },
    { name: "Created", cell: (run) => <Time at={run.created} /> },
    { name: "Took", look: "nowrap", cell: (run) => spanOf(run.started, run.finished, Date.now()) },
    { name: "Attempt", look: "number", cell: (run) => run.attempt },
    {
      name: "Actions",
      isUnnamed: true,
      cell: (run) => <RunActions run={run} changed={changed} refused={refused} />,
    },
  ];
  return <ListTable label="Runs" items={runs} keyOf={(run) => run.id} columns={columns} />;
}
