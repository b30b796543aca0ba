import type { ReactNode } from "react";
import type { PlanStep } from "../api/types";
import { lastPart, Name } from "../parts/Name";

/** A plan as its steps, in order, in words. */
export function PlanView({ steps }: { steps: readonly PlanStep[] }) {
  return (
    <ol className="plan">
      {steps.map((step, index) => (
        <li key={index}>
          <strong>{step.step}</strong>
          <div>{wordsOf(step)}</div>
        </li>
      ))}
    </ol>
  );
}

function wordsOf(step: PlanStep): ReactNode {
  switch (step.step) {
    case "read":
      return (
        <>
          Of <Name iri={String(step["asset"])} />: {names(step["columns"])}.
        </>
      );
    case "drop":
      return dropped(step);
    case "anonymize":
      return anonymised(step);
    case "publish":
      return (
        <>
          As <span className="iri">{String(step["asset"])}</span>, with {names(step["columns"])}.
        </>
      );
    default:
      return <Settings step={step} />;
  }
}

function dropped(step: PlanStep): ReactNode {
  const unmentioned = list(step["unmentioned"]);
  return (
    <>
      {list(step["identifiers"]).length > 0 && <>Identifiers are left out: {names(step["identifiers"])}. </>}
      {unmentioned.length > 0 && <>The policy does not mention, so nobody gets: {unmentioned.join(", ")}.</>}
    </>
  );
}

function anonymised(step: PlanStep): ReactNode {
  const columns = step["columns"] as Record<string, { name: string }[] | undefined>;
  const coarser = columns["quasi-identifier"] ?? [];
  const sensitive = columns["sensitive"] ?? [];
  const methods = Object.entries(step["methods"] as Record<string, Record<string, unknown>>);
  return (
    <>
      {methods.map(([method, settings]) => (
        <span key={method}>
          {method} ({Object.entries(settings).map(([name, value]) => `${name} = ${String(value)}`).join(", ")}).{" "}
        </span>
      ))}
      {coarser.length > 0 && (
        <>Made coarser: {coarser.map((column) => column.name).join(", ")}. </>
      )}
      {sensitive.length > 0 && (
        <>Kept as they are: {sensitive.map((column) => column.name).join(", ")}.</>
      )}
    </>
  );
}

/** What a step of another kind has, as it is named there. */
function Settings({ step }: { step: PlanStep }) {
  const shown = Object.entries(step).filter(([name, value]) => name !== "step" && !isEmpty(value));
  return (
    <dl className="facts">
      {shown.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name.replaceAll("_", " ")}</dt>
          <dd>{typeof value === "string" ? lastPart(value) : <code>{JSON.stringify(value)}</code>}</dd>
        </div>
      ))}
    </dl>
  );
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === "" || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function names(value: unknown): string {
  return list(value).join(", ");
}
