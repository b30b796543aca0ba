import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../../api/client";
import { useGet } from "../../api/loading";
import { Refusal } from "../../api/problems";
import type { Page, Run, RunKind } from "../../api/types";
import { Link, navigate, setQuery, useQuery } from "../../app/router";
import { Head } from "../../parts/Head";
import { Empty, Refused, Shown } from "../../parts/states";
import { kindName } from "../kinds";
import { useMaterial, type Material } from "./useMaterial";
import { misreading, settingsOf, valueOf, type Setting } from "./schema";
import { SettingField } from "./SettingField";

/** A run of any kind, asked for by a form that its settings make. */
export default function NewRun() {
  const { loaded, reload } = useGet<Page<RunKind>>("/run-kinds");
  const material = useMaterial();
  return (
    <>
      <Head title="New run" about="It waits for its turn, goes on when this page is closed, and can be cancelled at any time." />
      <Shown loaded={loaded} what="kinds of runs" retry={reload}>
        {(kinds) => (
          <Shown loaded={material.loaded} what="data" retry={material.reload}>
            {(value) => (value.datasets.length === 0 ? <NoData /> : <Choosing kinds={kinds.items} material={value} />)}
          </Shown>
        )}
      </Shown>
    </>
  );
}

function NoData() {
  return (
    <Empty title="There are no data yet">
      <p>
        Runs are about data: <Link to="/data/new">add a table</Link> and upload its file.
      </p>
    </Empty>
  );
}

function Choosing({ kinds, material }: { kinds: readonly RunKind[]; material: Material }) {
  const query = useQuery();
  const kind = kinds.find((one) => one.kind === query.get("kind")) ?? kinds[0]!;
  return (
    <div className="stack narrow">
      <label className="field">
        <span>What it does</span>
        <select value={kind.kind} onChange={(event) => setQuery({ kind: event.target.value })}>
          {kinds.map((one) => (
            <option key={one.kind} value={one.kind}>
              {kindName(one.kind)}
            </option>
          ))}
        </select>
      </label>
      <p>{kind.about}</p>
      <RunForm key={kind.kind} kind={kind} material={material} chosen={query} />
    </div>
  );
}

interface FormProps {
  kind: RunKind;
  material: Material;
  chosen: URLSearchParams;
}

function RunForm({ kind, material, chosen }: FormProps) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const settings = settingsOf(kind.settings);

  async function start(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    try {
      const asked = { kind: kind.kind, settings: read(settings, new FormData(event.currentTarget)) };
      const run = await post<Run>("/runs", asked);
      navigate(`/runs/${encodeURIComponent(run.id)}`, "replace");
    } catch (error) {
      setRefusal(asRefusal(error));
      setBusy(false);
    }
  }

  const fieldOf = (setting: Setting) => (
    <SettingField key={setting.name} setting={setting} material={material} chosen={chosen.get(setting.name) ?? ""} />
  );
  return (
    <form className="stack" onSubmit={(event) => void start(event)}>
      {settings.filter((one) => one.isRequired).map(fieldOf)}
      {settings.filter((one) => one.name === "vary").map(fieldOf)}
      <details>
        <summary>More settings</summary>
        <div className="stack more">{settings.filter((one) => !one.isRequired && one.name !== "vary").map(fieldOf)}</div>
      </details>
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? "Starting …" : "Start"}
        </button>
        <Link className="button" to="/runs">
          Cancel
        </Link>
      </div>
    </form>
  );
}

/** What the form says. Throws a Refusal for what cannot be read, before anything is sent. */
function read(settings: readonly Setting[], form: FormData): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const setting of settings) {
    try {
      const value = valueOf(setting, form.getAll(setting.name));
      if (value !== undefined) values[setting.name] = value;
    } catch {
      throw new Refusal(0, "", misreading(setting));
    }
  }
  return values;
}
