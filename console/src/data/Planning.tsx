import { useState } from "react";
import { asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Dataset, Page, Plans, PlanStep, Policy, Run } from "../api/types";
import { Link, navigate } from "../app/router";
import { has, useMe } from "../app/session";
import { Refused, Shown } from "../parts/states";
import { PlanView } from "./PlanView";

/** What a policy in force would do with the data. */
export function Planning({ dataset }: { dataset: Dataset }) {
  const { loaded, reload } = useGet<Page<Policy>>("/policies?limit=200");
  return (
    <section className="panel">
      <h2>Plan</h2>
      <Shown loaded={loaded} what="policies" retry={reload}>
        {(page) => {
          const published = page.items.filter((policy) => policy.published_version != null);
          return published.length === 0 ? <NoPolicy /> : <Choosing dataset={dataset} policies={published} />;
        }}
      </Shown>
    </section>
  );
}

function NoPolicy() {
  return (
    <p className="quiet">
      No policy is in force yet. Once an owner <Link to="/policies">publishes one</Link>, its plan is made here.
    </p>
  );
}

function Choosing({ dataset, policies }: { dataset: Dataset; policies: readonly Policy[] }) {
  const [id, setId] = useState(policies[0]!.id);
  const [plans, setPlans] = useState<Plans | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const policy = policies.find((one) => one.id === id)!;

  async function make(): Promise<void> {
    setBusy(true);
    setPlans(null);
    setRefusal(null);
    try {
      const datasets = { [dataset.iri]: dataset.id };
      setPlans(await post<Plans>("/plans", { policy: id, version: policy.published_version, datasets }));
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <div className="filters">
        <label className="field">
          <span>Policy</span>
          <select
            value={id}
            onChange={(event) => {
              setId(event.target.value);
              setPlans(null);
            }}
          >
            {policies.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}, version {one.published_version}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void make()} disabled={isBusy}>
          {isBusy ? "Planning …" : "Show the plan"}
        </button>
        {has(useMe(), "steward") && (
          <Link className="button" to={`/runs/new?${new URLSearchParams({ kind: "explore", policy: id, datasets: dataset.id })}`}>
            Compare settings
          </Link>
        )}
      </div>
      {refusal && <Refused refusal={refusal} />}
      {plans && <Starting dataset={dataset} plans={plans} refused={setRefusal} />}
      {plans?.plans.map((plan, index) => <PlanView key={index} steps={plan.steps as unknown as PlanStep[]} />)}
    </>
  );
}

interface StartingProps {
  dataset: Dataset;
  plans: Plans;
  refused: (refusal: Refusal) => void;
}

/** What a plan says is done by a run, for who may start one. */
function Starting({ dataset, plans, refused }: StartingProps) {
  const [isBusy, setBusy] = useState(false);
  if (!has(useMe(), "steward")) return <p className="quiet">A steward can start a run that does this:</p>;

  async function start(): Promise<void> {
    setBusy(true);
    try {
      const { policy, version } = plans;
      const datasets = { [dataset.iri]: dataset.id };
      const run = await post<Run>("/runs", { kind: "sanitise", policy, datasets, settings: { version } });
      navigate(`/runs/${encodeURIComponent(run.id)}`);
    } catch (error) {
      refused(asRefusal(error));
      setBusy(false);
    }
  }

  return (
    <p className="actions">
      <button type="button" className="primary" disabled={isBusy} onClick={() => void start()}>
        {isBusy ? "Starting …" : "Start a run that does this"}
      </button>
    </p>
  );
}
