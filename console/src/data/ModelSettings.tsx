import { useState, type FormEvent } from "react";
import { ask, asRefusal } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Model } from "../api/types";
import { Field } from "../parts/Field";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused } from "../parts/states";

const OUTPUTS = [
  ["", "As the file says itself"],
  ["probabilities", "Probabilities"],
  ["logits", "Logits, before the softmax"],
] as const;

/** How a fitted model is asked, with a button that changes it; a description is not asked. */
export function ModelSettings({ model, changed }: { model: Model; changed: (() => void) | null }) {
  const [isOpen, setOpen] = useState(false);
  if (model.kind === null || model.kind === undefined || model.kind === "description") return null;
  return (
    <>
      {wordsOf(model)}{" "}
      {changed && (
        <button type="button" aria-label={`Change how ${model.name} is asked`} onClick={() => setOpen(true)}>
          Change
        </button>
      )}
      {isOpen && changed && <Changing model={model} close={() => setOpen(false)} done={changed} />}
    </>
  );
}

function wordsOf({ settings }: Model): string {
  const parts = [
    counted(settings.features.length, "column"),
    settings.classes.length > 0 ? `${settings.classes.length} classes` : "",
    settings.outputs,
  ];
  return parts.filter((part) => part !== "").join(", ") || "as its file says";
}

function counted(count: number, noun: string): string {
  if (count === 0) return "";
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

function linesOf(text: FormDataEntryValue | null): string[] {
  return String(text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function Changing({ model, close, done }: { model: Model; close: () => void; done: () => void }) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const { settings } = model;

  async function change(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const changes = {
      features: linesOf(form.get("features")),
      classes: linesOf(form.get("classes")),
      outputs: String(form.get("outputs")),
    };
    try {
      const path = `/models/${encodeURIComponent(model.id)}`;
      await ask<Model>("PATCH", path, { body: { settings: changes }, etag: `"${model.revision}"` });
      say(`Runs that start from now on ask ${model.name} so.`);
      close();
      done();
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  return (
    <Sheet title={`How ${model.name} is asked`} close={close}>
      <form className="stack" onSubmit={(event) => void change(event)}>
        <Field label="Columns it takes" hint="One on each line, in the order that it takes them. Empty: as its file says.">
          {(given) => <textarea {...given} name="features" rows={4} defaultValue={settings.features.join("\n")} />}
        </Field>
        <Field label="Its classes" hint="One on each line, in the order of its answers. Empty: as its file says.">
          {(given) => <textarea {...given} name="classes" rows={3} defaultValue={settings.classes.join("\n")} />}
        </Field>
        <Field label="What its answers are" hint="Needed where its file does not tell.">
          {(given) => (
            <select {...given} name="outputs" defaultValue={settings.outputs}>
              {OUTPUTS.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          <button type="submit" className="primary">
            Save
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Sheet>
  );
}
