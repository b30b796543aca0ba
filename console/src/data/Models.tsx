import { useState, type FormEvent } from "react";
import { ask, asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Model, Owner, Page } from "../api/types";
import { has, useMe } from "../app/session";
import { Field } from "../parts/Field";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { say } from "../parts/messages";
import { Refused, Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { ModelSettings } from "./ModelSettings";
import { uploadFile } from "./uploading";

/** The models that audits may be of: as weights or as descriptions, and never as code. */
export function Models({ mayWrite }: { mayWrite: boolean }) {
  const { loaded, reload } = useGet<Page<Model>>("/models?limit=200");
  return (
    <section className="panel">
      <h2>Models</h2>
      <p className="quiet">Audits attack a model by its weights, or train one from its description.</p>
      <Shown loaded={loaded} what="models" retry={reload}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="quiet">No model was uploaded yet.</p>
          ) : (
            <ListTable label="Models" items={items} keyOf={(one) => one.id} columns={columnsOf(mayWrite, reload)} />
          )
        }
      </Shown>
      {mayWrite && (
        <details>
          <summary>Add a model</summary>
          <ModelForm done={reload} />
        </details>
      )}
    </section>
  );
}

function columnsOf(mayWrite: boolean, changed: () => void): readonly ListColumn<Model>[] {
  const columns: ListColumn<Model>[] = [
    { name: "Name", cell: (model) => model.name },
    { name: "Kind", cell: (model) => model.kind ?? "no file yet" },
    { name: "How it is asked", cell: (model) => <ModelSettings model={model} changed={mayWrite ? changed : null} /> },
    { name: "Added", cell: (model) => <Time at={model.created} /> },
  ];
  return mayWrite ? [...columns, { name: "Remove", cell: (model) => <Removing model={model} changed={changed} /> }] : columns;
}

function Removing({ model, changed }: { model: Model; changed: () => void }) {
  async function remove(): Promise<void> {
    if (!window.confirm(`Remove ${model.name}? Its file is deleted.`)) return;
    try {
      await ask("DELETE", `/models/${encodeURIComponent(model.id)}`);
      say(`${model.name} is removed.`);
    } catch (error) {
      say(asRefusal(error).message);
    }
    changed();
  }
  return (
    <button type="button" aria-label={`Remove ${model.name}`} onClick={() => void remove()}>
      Remove
    </button>
  );
}

function ModelForm({ done }: { done: () => void }) {
  const me = useMe();
  const { loaded } = useGet<Owner[]>("/owners");
  const owners = loaded.state === "ready" ? loaded.value : [];
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function add(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    const file = data.get("file");
    if (!(file instanceof File)) return;
    setBusy(true);
    setRefusal(null);
    try {
      await send(String(data.get("name")).trim(), String(data.get("owner") ?? ""), file);
      form.reset();
      say("The model is there.");
    } catch (error) {
      setRefusal(asRefusal(error));
    }
    setBusy(false);
    done();
  }

  return (
    <form className="stack narrow" onSubmit={(event) => void add(event)}>
      <Field label="Name of the model" hint="As it is listed here and where runs are started.">
        {(given) => <input {...given} name="name" required maxLength={200} autoComplete="off" />}
      </Field>
      {(owners.length > 1 || !has(me, "owner")) && (
        <Field label="Owner of the model" hint="Who answers for it.">
          {(given) => (
            <select {...given} name="owner" required defaultValue={has(me, "owner") ? me.id : ""}>
              <option value="">Choose</option>
              {owners.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field
        label="Weights or description"
        hint="skops, ONNX, Keras 3, XGBoost, LightGBM, or a description in JSON. Pickles and code are refused."
      >
        {(given) => <input {...given} type="file" name="file" required />}
      </Field>
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? "Sending …" : "Add the model"}
        </button>
      </div>
    </form>
  );
}

/** Sends a model; one whose file is refused is taken back. */
async function send(name: string, owner: string, file: File): Promise<void> {
  const path = `/models/${encodeURIComponent((await post<Model>("/models", { name, owner })).id)}`;
  try {
    await uploadFile<Model>(path, file, new AbortController().signal, () => undefined);
  } catch (error) {
    await ask("DELETE", path);
    throw error;
  }
}
