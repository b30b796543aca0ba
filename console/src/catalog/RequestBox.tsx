import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Decision } from "../api/types";
import { DecisionView } from "../parts/DecisionView";
import { Refused } from "../parts/states";

/** A request that is decided by all policies in force, and logged. */
export function RequestBox({ mayAskForOthers, party }: { mayAskForOthers: boolean; party: string }) {
  const [decision, setDecision] = useState<Decision | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);

  async function ask(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const value = (name: string) => String(form.get(name) ?? "").trim();
    setDecision(null);
    setRefusal(null);
    try {
      const target = value("target").split(/[\s,]+/).filter(Boolean);
      const [assignee, action, purpose] = [value("assignee"), value("action"), value("purpose")];
      setDecision(await post<Decision>("/decisions", { assignee, action, target, purpose }));
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  return (
    <section className="panel">
      <h2>Ask whether it is permitted</h2>
      <p className="quiet">Decided by all policies in force, and logged.</p>
      <form className="request" onSubmit={(event) => void ask(event)}>
        {mayAskForOthers ? (
          <label className="field">
            <span>Who</span>
            <input name="assignee" defaultValue={party} autoComplete="off" />
          </label>
        ) : null}
        <label className="field">
          <span>Action</span>
          <input name="action" defaultValue="read" required autoComplete="off" />
        </label>
        <label className="field">
          <span>Data</span>
          <input name="target" required autoComplete="off" />
        </label>
        <label className="field">
          <span>Purpose</span>
          <input name="purpose" autoComplete="off" />
        </label>
        <button type="submit" className="primary">
          Decide
        </button>
      </form>
      {refusal && <Refused refusal={refusal} />}
      {decision && <DecisionView decision={decision} />}
    </section>
  );
}
