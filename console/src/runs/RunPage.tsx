import { useState } from "react";
import { BASE, get, getText } from "../api/client";
import { useLoading } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Artefact, Page, Run } from "../api/types";
import { Link } from "../app/router";
import { Head } from "../parts/Head";
import { ProblemList } from "../parts/ProblemList";
import { sizeOf } from "../parts/sizes";
import { Refused, Shown } from "../parts/states";
import { spanOf, Time } from "../parts/Time";
import { Comparing } from "./Comparing";
import { kindName } from "./kinds";
import { Progress } from "./Progress";
import { RunActions } from "./RunActions";
import { RunBadge } from "./RunBadge";
import { Settings } from "./Settings";
import { TradeOff } from "./TradeOff";
import { useRun } from "./useRuns";

export default function RunPage({ id }: { id: string }) {
  const { loaded, reload, replace } = useRun(id);
  return (
    <Shown loaded={loaded} what="the run" retry={reload}>
      {(run) => <OneRun run={run} changed={(now) => replace(() => now)} />}
    </Shown>
  );
}

function OneRun({ run, changed }: { run: Run; changed: (run: Run) => void }) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  return (
    <>
      <p className="crumb">
        <Link to="/runs">Runs</Link>
      </p>
      <Head title={kindName(run.kind)} about={<>Created <Time at={run.created} /></>}>
        <RunBadge state={run.state} />
        <RunActions run={run} changed={changed} refused={setRefusal} />
      </Head>
      <div className="stack">
        {refusal && <Refused refusal={refusal} />}
        {run.problems.length > 0 && (
          <section className="notice bad">
            <h2>Why it failed</h2>
            <ProblemList problems={run.problems} />
          </section>
        )}
        <div className="columns">
          <Facts run={run} />
          <Artefacts run={run} />
        </div>
        {run.state === "succeeded" && (
          <>
            {run.kind === "explore" && <TradeOff runs={[run]} />}
            <section className="panel">
              <h2>Beside another run</h2>
              <div className="filters">
                <Comparing run={run} />
              </div>
            </section>
          </>
        )}
        <Log run={run} />
      </div>
    </>
  );
}

function Facts({ run }: { run: Run }) {
  return (
    <section className="panel">
      <h2>Run</h2>
      <Progress run={run} />
      <dl className="facts">
        <dt>Started</dt>
        <dd>
          <Time at={run.started} />
        </dd>
        <dt>Finished</dt>
        <dd>
          <Time at={run.finished} />
        </dd>
        <dt>Took</dt>
        <dd>{spanOf(run.started, run.finished, Date.now()) || <span className="quiet">not yet</span>}</dd>
        <dt>Attempt</dt>
        <dd>{run.attempt}</dd>
        <Settings settings={run.settings} />
      </dl>
    </section>
  );
}

function Artefacts({ run }: { run: Run }) {
  const path = `/runs/${encodeURIComponent(run.id)}/artefacts`;
  // What a run left is asked for again once it has ended.
  const { loaded, reload } = useLoading(`${path} ${run.state}`, (signal) => get<Page<Artefact>>(path, signal));
  return (
    <section className="panel">
      <h2>Results</h2>
      <Outputs run={run} />
      <Shown loaded={loaded} what="the results" retry={reload}>
        {(page) =>
          page.items.length === 0 ? (
            <p className="quiet">What was measured is listed here once the run has succeeded.</p>
          ) : (
            <ul className="bullets">
              {page.items.map((one) => (
                <li key={one.name}>
                  <a href={`${BASE}${path}/${one.name.split("/").map(encodeURIComponent).join("/")}`} download>
                    {one.name}
                  </a>{" "}
                  <span className="fine">{sizeOf(one.size)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

/** The releases that a run has made. */
function Outputs({ run }: { run: Run }) {
  const outputs = run.result["outputs"];
  if (run.kind !== "sanitise" || !Array.isArray(outputs)) return null;
  return (
    <ul className="bullets">
      {(outputs as { asset: string }[]).map((output, index) => (
        <li key={output.asset}>
          Released: <Link to={`/releases/${encodeURIComponent(`${run.id}-${index}`)}`}>{output.asset}</Link>
        </li>
      ))}
    </ul>
  );
}

function Log({ run }: { run: Run }) {
  const path = `/runs/${encodeURIComponent(run.id)}/log`;
  // A log is read again with every step of the run.
  const key = `${path} ${run.state} ${run.stage} ${run.attempt}`;
  const { loaded, reload } = useLoading(key, (signal) => getText(path, signal));
  return (
    <section className="panel">
      <h2>Log</h2>
      <Shown loaded={loaded} what="the log" retry={reload}>
        {(log) =>
          log.trim() === "" ? (
            <p className="quiet">Nothing has been written to it.</p>
          ) : (
            <pre className="log" tabIndex={0}>
              {log}
            </pre>
          )
        }
      </Shown>
    </section>
  );
}
