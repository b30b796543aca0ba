import { useState, type FormEvent } from "react";
import { ask, asRefusal } from "../api/client";
import type { Refusal } from "../api/problems";
import type { ReviewDetail } from "../api/types";
import { navigate } from "../app/router";
import { Field } from "../parts/Field";
import { say } from "../parts/messages";
import { Refused } from "../parts/states";

/** Sends the folder of a session or of checked tables, as an archive, to the owner of the data. */
export function SendingOutputs() {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function send(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const file = form.get("archive");
    if (!(file instanceof File)) return;
    const query = new URLSearchParams({ dataset: String(form.get("dataset")).trim() });
    setBusy(true);
    setRefusal(null);
    try {
      const headers = { "Content-Type": "application/zip" };
      const sent = await ask<ReviewDetail>("POST", `/reviews?${query}`, { raw: file, headers });
      say("The outputs are sent for review.");
      navigate(`/releases/reviews/${encodeURIComponent(sent.value.id)}`);
    } catch (error) {
      setRefusal(asRefusal(error));
      setBusy(false);
    }
  }

  return (
    <details className="panel">
      <summary>Send outputs that were made elsewhere</summary>
      <form className="stack" onSubmit={(event) => void send(event)}>
        <Field label="Data that the outputs are about" hint="By its identifier: its owner decides.">
          {(given) => <input {...given} name="dataset" required autoComplete="off" />}
        </Field>
        <Field
          label="Folder of outputs"
          hint="As a zip archive: what a session, or policy-engine check --out, wrote. At most 32 MiB."
        >
          {(given) => <input {...given} name="archive" type="file" required accept=".zip,application/zip" />}
        </Field>
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {isBusy ? "Sending …" : "Send for review"}
          </button>
        </div>
      </form>
    </details>
  );
}
