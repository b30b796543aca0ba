import { useEffect, useId, useRef, useState, type FormEvent } from "react";
import { asRefusal, isAbort, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Decision, Matrix } from "../api/types";
import { Refused } from "../parts/states";
import { DecisionView } from "../parts/DecisionView";

interface Request {
  assignee: string;
  action: string;
  target: string[];
  purpose: string;
}

type Answer = { decision: Decision; refusal: null } | { decision: null; refusal: Refusal };

interface Props {
  /** The last text that was valid. */
  valid: string | null;
  matrix: Matrix | undefined;
  isCurrent: boolean;
}

/** What the policy would answer to a request, before it counts. */
export function WhatIf({ valid, matrix, isCurrent }: Props) {
  const [request, setRequest] = useState<Request | null>(null);
  const [answer, setAnswer] = useState<Answer | null>(null);
  useEffect(() => {
    if (request === null || valid === null) return;
    const controller = new AbortController();
    post<Decision>("/policies:evaluate", { text: valid, request }, controller.signal)
      .then((decision) => setAnswer({ decision, refusal: null }))
      .catch((error: unknown) => {
        if (!isAbort(error)) setAnswer({ decision: null, refusal: asRefusal(error) });
      });
    return () => controller.abort();
  }, [request, valid]);
  return (
    <section className="panel">
      <h2>What if …</h2>
      <p className="quiet">Try a request on this text. Nothing is logged, and no data is read.</p>
      <RequestForm matrix={matrix} canAsk={valid !== null} ask={setRequest} />
      {answer?.refusal && <Refused refusal={answer.refusal} />}
      {answer?.decision && <DecisionView decision={answer.decision} />}
      {answer && !isCurrent && <p className="fine">Of the last text that was valid, not of what is written now.</p>}
    </section>
  );
}

interface FormProps {
  matrix: Matrix | undefined;
  canAsk: boolean;
  ask: (request: Request) => void;
}

function RequestForm({ matrix, canAsk, ask }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const rows = matrix?.rows ?? [];
  const first = rows.find((row) => Object.values(row.cells).includes("permit")) ?? rows[0];
  useEffect(() => {
    // What the policy names is a good first request, if none was written yet.
    if (form.current === null || first === undefined) return;
    prefill(form.current, "assignee", matrix?.assignees[0]);
    prefill(form.current, "action", first.action);
    prefill(form.current, "target", first.target);
    prefill(form.current, "purpose", first.purpose);
  }, [first, matrix]);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const value = (name: string) => String(data.get(name) ?? "").trim();
    ask({
      assignee: value("assignee"),
      action: value("action"),
      target: value("target").split(/[\s,]+/).filter(Boolean),
      purpose: value("purpose"),
    });
  }

  return (
    <form ref={form} className="request" onSubmit={submit}>
      <Choice name="assignee" label="Who" options={matrix?.assignees ?? []} isRequired />
      <Choice name="action" label="Action" options={rows.map((row) => row.action)} isRequired />
      <Choice name="target" label="Data" options={rows.map((row) => row.target)} isRequired />
      <Choice name="purpose" label="Purpose" options={rows.map((row) => row.purpose)} />
      <button type="submit" className="primary" disabled={!canAsk}>
        Decide
      </button>
    </form>
  );
}

function prefill(form: HTMLFormElement, name: string, value: string | undefined): void {
  const input = form.elements.namedItem(name);
  if (input instanceof HTMLInputElement && input.value === "" && value) input.value = value;
}

interface ChoiceProps {
  name: string;
  label: string;
  options: readonly string[];
  isRequired?: boolean;
}

function Choice({ name, label, options, isRequired = false }: ChoiceProps) {
  const list = useId();
  return (
    <label className="field">
      <span>{label}</span>
      <input name={name} list={list} required={isRequired} autoComplete="off" spellCheck={false} />
      <datalist id={list}>
        {[...new Set(options)].filter(Boolean).map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </label>
  );
}
