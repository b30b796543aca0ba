import { useState } from "react";
import { ask, asRefusal, get } from "../api/client";
import { useLoading } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { ColumnProfile, ColumnRole, Dataset, DatasetProfile } from "../api/types";
import { say } from "../parts/messages";
import { Busy, Refused } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";

const ROLES: Record<ColumnRole, string> = {
  identifier: "Identifier: left out",
  "quasi-identifier": "Quasi-identifier: made coarser",
  sensitive: "Sensitive: kept, and diverse",
  other: "None of these",
};

interface Props {
  dataset: Dataset;
  path: string;
  mayWrite: boolean;
  changed: () => void;
}

/** The columns of a dataset, how they look without their values, and their roles in policies. */
export function Columns({ dataset, path, mayWrite, changed }: Props) {
  return (
    <section className="panel">
      <h2>Columns</h2>
      {dataset.columns.length === 0 ? (
        <p className="quiet">They are read from the file.</p>
      ) : (
        <Profiled key={dataset.revision} dataset={dataset} path={path} mayWrite={mayWrite} changed={changed} />
      )}
    </section>
  );
}

type Roles = Record<string, ColumnRole>;

function Profiled({ dataset, path, mayWrite, changed }: Props) {
  const { loaded, reload } = useLoading(`${path}:profile ${dataset.digest}`, (signal) =>
    get<DatasetProfile>(`${path}:profile`, signal),
  );
  const [chosen, setChosen] = useState<Roles>({});
  const profiles = new Map(
    loaded.state === "ready" ? loaded.value.columns.map((one) => [one.name, one]) : [],
  );
  const roleOf = (column: Dataset["columns"][number]) =>
    chosen[column.name] ?? column.role ?? profiles.get(column.name)?.proposed;
  const choose = (name: string, role: ColumnRole) => setChosen((some) => ({ ...some, [name]: role }));
  const open = dataset.columns.filter((one) => roleOf(one) !== undefined && roleOf(one) !== one.role);
  return (
    <>
      {loaded.state === "loading" && <Busy what="Looking at the columns" />}
      {loaded.state === "refused" && <Refused refusal={loaded.refusal} retry={reload} />}
      <TableFrame label="Columns">
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Role</th>
            <th scope="col">Kind</th>
            <th scope="col">Values</th>
            <th scope="col">What policies call it</th>
          </tr>
        </thead>
        <tbody>
          {dataset.columns.map((column) => (
            <tr key={column.name}>
              <th scope="row">{column.name}</th>
              <td>
                <RoleOf
                  column={column}
                  role={roleOf(column)}
                  profile={profiles.get(column.name)}
                  {...(mayWrite ? { choose: (role: ColumnRole) => choose(column.name, role) } : {})}
                />
              </td>
              <Looks profile={profiles.get(column.name)} />
              <td className="iri wide">{`${dataset.iri}/${column.name}`}</td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
      {mayWrite && loaded.state === "ready" && (
        <Confirming
          roles={Object.fromEntries(open.map((one) => [one.name, roleOf(one)!]))}
          dataset={dataset}
          path={path}
          changed={changed}
        />
      )}
    </>
  );
}

function Looks({ profile }: { profile: ColumnProfile | undefined }) {
  return (
    <>
      <td>{profile?.kind}</td>
      <td>
        {profile?.distinct}
        {profile && profile.missing !== "none" && <span className="fine"> missing: {profile.missing}</span>}
      </td>
    </>
  );
}

interface RoleProps {
  column: Dataset["columns"][number];
  role: ColumnRole | undefined;
  profile: ColumnProfile | undefined;
  choose?: (role: ColumnRole) => void;
}

/** The role of a column: as it was confirmed, or as it is proposed, and why. */
function RoleOf({ column, role, profile, choose }: RoleProps) {
  const isProposed = column.role == null && profile !== undefined && role === profile.proposed;
  return (
    <>
      {role === undefined ? (
        <span className="quiet">not said yet</span>
      ) : choose ? (
        <select
          aria-label={`Role of ${column.name}`}
          value={role}
          onChange={(event) => choose(event.target.value as ColumnRole)}
        >
          {Object.entries(ROLES).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      ) : (
        ROLES[role]
      )}
      {isProposed && <p className="fine">Proposed: {profile.reason}</p>}
      {column.role != null && role === column.role && <p className="fine">Confirmed.</p>}
    </>
  );
}

interface ConfirmingProps {
  roles: Roles;
  dataset: Dataset;
  path: string;
  changed: () => void;
}

function Confirming({ roles, dataset, path, changed }: ConfirmingProps) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const count = Object.keys(roles).length;

  async function confirm(): Promise<void> {
    setBusy(true);
    setRefusal(null);
    try {
      await ask<Dataset>("PATCH", path, { body: { roles }, etag: `"${dataset.revision}"` });
      say("The roles are confirmed.");
      changed();
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  if (count === 0) return <p className="fine">The roles of all columns are confirmed.</p>;
  return (
    <>
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="button" className="primary" disabled={isBusy} onClick={() => void confirm()}>
          {isBusy ? "Confirming …" : `Confirm ${count === 1 ? "the role of 1 column" : `the roles of ${count} columns`}`}
        </button>
        <span className="fine">What is proposed is a first guess by names and counts.</span>
      </div>
    </>
  );
}
