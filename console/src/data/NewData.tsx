import { useEffect, useRef, useState, type FormEvent } from "react";
import { asRefusal, isAbort, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Dataset } from "../api/types";
import { Link, navigate } from "../app/router";
import { Field } from "../parts/Field";
import { Head } from "../parts/Head";
import { Refused } from "../parts/states";
import { uploadFile, type Arrived } from "./uploading";

export default function NewData() {
  const [name, setName] = useState("");
  const [iri, setIri] = useState("");
  const [arrived, setArrived] = useState<Arrived | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const made = useRef<Dataset | null>(null);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  async function add(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const file = new FormData(event.currentTarget).get("file");
    if (!(file instanceof File)) return;
    controller.current = new AbortController();
    setRefusal(null);
    setArrived({ sent: 0, size: file.size });
    try {
      made.current ??= await post<Dataset>("/datasets", { name: name.trim(), iri: iri.trim() });
      await uploadFile(made.current.id, file, controller.current.signal, setArrived);
      navigate(`/data/${encodeURIComponent(made.current.id)}`, "replace");
    } catch (error) {
      if (!isAbort(error)) setRefusal(asRefusal(error));
      setArrived(null);
    }
  }

  return (
    <>
      <Head title="Add data" about="A table that policies are about. It stays with the service." />
      <form className="stack narrow" onSubmit={(event) => void add(event)}>
        <label className="field">
          <span>Name</span>
          <input required maxLength={200} autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <Field
          label="Identifier"
          hint="What policies call it, as their target. A column is this, a slash, and its name."
        >
          {(given) => (
            <input
              {...given}
              required
              type="url"
              autoComplete="off"
              placeholder="http://example.com/Customer"
              value={iri}
              onChange={(event) => setIri(event.target.value)}
            />
          )}
        </Field>
        <Field label="File" hint="CSV with a line of names first, or Parquet.">
          {(given) => <input {...given} required type="file" name="file" accept=".csv,.parquet" />}
        </Field>
        {arrived && <Sending arrived={arrived} />}
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          <button type="submit" className="primary" disabled={arrived !== null}>
            {arrived ? "Uploading …" : "Upload"}
          </button>
          <Link className="button" to="/data">
            Cancel
          </Link>
        </div>
      </form>
    </>
  );
}

function Sending({ arrived }: { arrived: Arrived }) {
  const isAll = arrived.sent >= arrived.size;
  return (
    <div className="progress" role="status">
      <progress aria-label="Upload" value={arrived.sent} max={Math.max(1, arrived.size)} />
      <span className="fine">
        {isAll ? "Reading the table …" : `${Math.floor((100 * arrived.sent) / Math.max(1, arrived.size))} % has arrived`}
      </span>
    </div>
  );
}
