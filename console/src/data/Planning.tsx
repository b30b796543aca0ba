import { useState } from "react";
import { ask, asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Dataset, Page, Plan, Policy, Run } from "../api/types";
import { Link, navigate } from "../app/router";
import { has, useMe } from "../app/session";
import { Refused, Shown } from "../parts/states";
import { PlanView } from "./PlanView";

/** What a policy in force would do with the data, and the run that does it. */
export function Planning({ dataset }: { dataset: Dataset }) {
  const { loaded, reload } = useGet<Page<Policy>>("/policies?limit=200");
  return (
    <section className="panel">
      <h2>Plan</h2>
      <Shown loaded={loaded} what="policies" retry={reload}>
        {(page) => {
          const published = page.items.filter((policy) => policy.published_version !== null);
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
  const [plan, setPlan] = useState<Plan | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const mayRun = has(useMe(), "steward");
  const policy = policies.find((one) => one.id === id)!;
  const asked = { policy: id, version: policy.published_version, datasets: { [dataset.iri]: dataset.id } };

  async function attempt(act: () => Promise<void>): Promise<void> {
    setBusy(true);
    setRefusal(null);
    try {
      await act();
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  const make = () =>
    attempt(async () => {
      setPlan(null);
      setPlan(await post<Plan>("/plans", asked));
    });
  const start = () =>
    attempt(async () => {
      const run = (await ask<Run>("POST", "/runs", { body: { kind: "sanitise", ...asked, settings: {} } })).value;
      navigate(`/runs/${encodeURIComponent(run.id)}`);
    });

  return (
    <>
      <div className="filters">
        <label className="field">
          <span>Policy</span>
          <select
            value={id}
            onChange={(event) => {
              setId(event.target.value);
              setPlan(null);
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
          Make the plan
        </button>
      </div>
      {refusal && <Refused refusal={refusal} />}
      {plan && <PlanView plan={plan} />}
      {plan && mayRun && (
        <div className="actions">
          <button type="button" className="primary" onClick={() => void start()} disabled={isBusy}>
            Start the run
          </button>
          <span className="quiet">The output is measured before anybody may read it.</span>
        </div>
      )}
    </>
  );
}
