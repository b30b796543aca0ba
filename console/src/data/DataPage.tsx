import { useState } from "react";
import { ask, asRefusal } from "../api/client";
import { useLoading } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Dataset } from "../api/types";
import { Link, navigate } from "../app/router";
import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { sizeOf } from "../parts/sizes";
import { Refused, Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { LineagePanel } from "../lineage/LineagePanel";
import { Columns } from "./Columns";
import { FileForm } from "./FileForm";
import { Generalising } from "./Generalising";
import { Planning } from "./Planning";

export default function DataPage({ id }: { id: string }) {
  const path = `/datasets/${encodeURIComponent(id)}`;
  const { loaded, reload } = useLoading(path, async (signal) => (await ask<Dataset>("GET", path, { signal })).value);
  return (
    <Shown loaded={loaded} what="the data" retry={reload}>
      {(dataset) => <OneDataset dataset={dataset} path={path} changed={reload} />}
    </Shown>
  );
}

function OneDataset({ dataset, path, changed }: { dataset: Dataset; path: string; changed: () => void }) {
  const mayWrite = has(useMe(), "owner", "steward");
  const [isRemoving, setRemoving] = useState(false);
  return (
    <>
      <p className="crumb">
        <Link to="/data">Data</Link>
      </p>
      <Head title={dataset.name} about={<span className="iri">{dataset.iri}</span>}>
        {mayWrite && (
          <button type="button" className="danger" onClick={() => setRemoving(true)}>
            Remove …
          </button>
        )}
      </Head>
      <div className="columns">
        <Facts dataset={dataset} />
        {mayWrite && (
          <section className="panel">
            <h2>{dataset.format ? "Replace the file" : "Upload the file"}</h2>
            <FileForm dataset={dataset.id} done={changed} />
          </section>
        )}
      </div>
      <div className="stack">
        <Columns dataset={dataset} path={path} mayWrite={mayWrite} changed={changed} />
        {dataset.format && mayWrite && <Generalising dataset={dataset} path={path} />}
        {dataset.format && mayWrite && <Planning dataset={dataset} />}
        <LineagePanel path={path} round={dataset.digest ?? ""} />
      </div>
      {isRemoving && <Removing dataset={dataset} path={path} close={() => setRemoving(false)} />}
    </>
  );
}

function Facts({ dataset }: { dataset: Dataset }) {
  return (
    <section className="panel">
      <h2>File</h2>
      {dataset.format ? (
        <dl className="facts">
          <dt>Rows</dt>
          <dd>{dataset.rows?.toLocaleString("en")}</dd>
          <dt>Size</dt>
          <dd>{sizeOf(dataset.size ?? 0)}</dd>
          <dt>Format</dt>
          <dd>{dataset.format}</dd>
          <dt>Added</dt>
          <dd>
            <Time at={dataset.created} />
          </dd>
          {dataset.digest && (
            <>
              <dt>Digest</dt>
              <dd>
                <code>{dataset.digest}</code>
              </dd>
            </>
          )}
        </dl>
      ) : (
        <p className="quiet">None has arrived completely yet.</p>
      )}
    </section>
  );
}

function Removing({ dataset, path, close }: { dataset: Dataset; path: string; close: () => void }) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  async function remove(): Promise<void> {
    try {
      await ask("DELETE", path);
      say(`${dataset.name} is removed.`);
      navigate("/data", "replace");
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }
  return (
    <Sheet title={`Remove ${dataset.name}?`} close={close}>
      <p>Its file is deleted and cannot be had back. That it was there stays known to decisions and certificates.</p>
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="button" className="danger" onClick={() => void remove()}>
          Remove
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Sheet>
  );
}
