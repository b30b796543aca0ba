import { useEffect, useRef, useState, type FormEvent } from "react";
import { asRefusal, isAbort } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Dataset } from "../api/types";
import { Field } from "../parts/Field";
import { Refused } from "../parts/states";
import { uploadFile, type Arrived } from "./uploading";

interface Props {
  dataset: string;
  done: (dataset: Dataset) => void;
}

/** A file that is sent to be the dataset's, with how far it is. */
export function FileForm({ dataset, done }: Props) {
  const [arrived, setArrived] = useState<Arrived | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  async function send(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const file = new FormData(event.currentTarget).get("file");
    if (!(file instanceof File)) return;
    controller.current = new AbortController();
    setRefusal(null);
    setArrived({ sent: 0, size: file.size });
    try {
      done(await uploadFile<Dataset>(`/datasets/${encodeURIComponent(dataset)}`, file, controller.current.signal, setArrived));
    } catch (error) {
      if (!isAbort(error)) setRefusal(asRefusal(error));
    }
    setArrived(null);
  }

  return (
    <form className="stack" onSubmit={(event) => void send(event)}>
      <Field label="File" hint="CSV with a line of names first, or Parquet.">
        {(given) => <input {...given} required type="file" name="file" accept=".csv,.parquet" />}
      </Field>
      {arrived && <Sending arrived={arrived} />}
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={arrived !== null}>
          Upload
        </button>
        {arrived && (
          <button type="button" onClick={() => controller.current?.abort()}>
            Stop
          </button>
        )}
      </div>
    </form>
  );
}

function Sending({ arrived }: { arrived: Arrived }) {
  const isAll = arrived.sent >= arrived.size;
  const share = Math.floor((100 * arrived.sent) / Math.max(1, arrived.size));
  return (
    <div className="progress" role="status">
      <progress aria-label="Upload" value={arrived.sent} max={Math.max(1, arrived.size)} />
      <span className="fine">{isAll ? "Reading the table …" : `${share} % has arrived`}</span>
    </div>
  );
}
