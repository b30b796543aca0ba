import type { FormEvent } from "react";
import { Field } from "../parts/Field";

export interface Wanted {
  targets: string[];
  purpose: string;
  until: string;
  reason: string;
}

const DAY = 24 * 3600 * 1000;

/** Asks the owner of data to let the reader read them, until a day. */
export function AskingBox({ send }: { send: (wanted: Wanted) => Promise<boolean> }) {
  async function ask(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    const value = (name: string) => String(form.get(name) ?? "").trim();
    const wanted = {
      targets: value("targets").split(/[\s,]+/).filter(Boolean),
      purpose: value("purpose"),
      until: new Date(`${value("until")}T23:59:59`).toISOString(),
      reason: value("reason"),
    };
    if (await send(wanted)) element.reset();
  }

  return (
    <details>
      <summary>Ask an owner for access</summary>
      <form className="stack" onSubmit={(event) => void ask(event)}>
        <Field label="Data to read" hint="Identifiers, with spaces between them. What is asked for together is read together.">
          {(given) => <input {...given} name="targets" required autoComplete="off" />}
        </Field>
        <label className="field">
          <span>For the purpose</span>
          <input name="purpose" autoComplete="off" />
        </label>
        <label className="field">
          <span>Until the end of</span>
          <input type="date" name="until" required min={dayOf(Date.now())} defaultValue={dayOf(Date.now() + 30 * DAY)} />
        </label>
        <label className="field">
          <span>Why</span>
          <input name="reason" autoComplete="off" />
        </label>
        <div className="actions">
          <button type="submit" className="primary">
            Ask
          </button>
        </div>
      </form>
    </details>
  );
}

function dayOf(moment: number): string {
  const day = new Date(moment);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
