import { useState } from "react";
import { ask, asRefusal } from "../api/client";
import { useLoading } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Column, Dataset } from "../api/types";
import { Link } from "../app/router";
import { Head } from "../parts/Head";
import { say } from "../parts/messages";
import { Refused, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Planning } from "./Planning";
import { ROLES } from "./roles";

interface Opened {
  dataset: Dataset;
  columns: Column[];
  etag: string;
}

async function open(path: string, signal: AbortSignal): Promise<Opened> {
  const { value: dataset, etag } = await ask<Dataset>("GET", path, { signal });
  const profile = await ask<{ columns: Column[] }>("GET", `${path}:profile`, { signal });
  return { dataset, columns: profile.value.columns, etag };
}

export default function DataPage({ id }: { id: string }) {
  const path = `/datasets/${encodeURIComponent(id)}`;
  const { loaded, reload } = useLoading(path, (signal) => open(path, signal));
  return (
    <Shown loaded={loaded} what="the data" retry={reload}>
      {({ dataset, columns, etag }) => (
        <>
          <p className="crumb">
            <Link to="/data">Data and plan</Link>
          </p>
          <Head title={dataset.name} about={<span className="iri">{dataset.iri}</span>} />
          <div className="stack">
            <Columns key={etag} path={path} columns={columns} etag={etag} saved={reload} />
            <Planning dataset={dataset} />
          </div>
        </>
      )}
    </Shown>
  );
}

interface ColumnsProps {
  path: string;
  columns: readonly Column[];
  etag: string;
  saved: () => void;
}

function Columns({ path, columns, etag, saved }: ColumnsProps) {
  const [roles, setRoles] = useState<Record<string, string>>(() =>
    Object.fromEntries(columns.map((column) => [column.name, column.role ?? column.proposed_role ?? ""])),
  );
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const isConfirmed = columns.every((column) => column.role !== null && column.role === roles[column.name]);
  const open = columns.filter((column) => !roles[column.name]).length;

  async function confirm(): Promise<void> {
    try {
      await ask("PATCH", path, { body: { roles }, etag });
      say("The roles of the columns are confirmed.");
      saved();
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  return (
    <section className="panel">
      <h2>Columns</h2>
      <p className="quiet">
        Roles are proposed by names, types and how many values there are. No value is shown.
      </p>
      <TableFrame label="Columns">
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Type</th>
            <th scope="col">Role</th>
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <tr key={column.name}>
              <th scope="row">{column.name}</th>
              <td>{column.type}</td>
              <td>
                <select
                  aria-label={`Role of ${column.name}`}
                  value={roles[column.name] ?? ""}
                  onChange={(event) => setRoles({ ...roles, [column.name]: event.target.value })}
                >
                  <option value="">Not decided</option>
                  {Object.entries(ROLES).map(([role, words]) => (
                    <option key={role} value={role}>
                      {words}
                    </option>
                  ))}
                </select>
                {column.reason && column.role === null && <p className="fine">{column.reason}</p>}
              </td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="button" className="primary" disabled={isConfirmed || open > 0} onClick={() => void confirm()}>
          Confirm roles
        </button>
        {open > 0 && <span className="quiet">{open} not decided yet</span>}
        {isConfirmed && <span className="quiet">✓ confirmed</span>}
      </div>
    </section>
  );
}
