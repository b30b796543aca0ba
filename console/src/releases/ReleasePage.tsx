import { useState } from "react";
import { ask, asRefusal, BASE, get, post } from "../api/client";
import { useLoading } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Measurement, Release } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";
import { certificateOf, type Certificate } from "./certificate";
import { ReleaseBadge } from "./ReleaseBadge";
import { Verifying } from "./Verifying";

interface Opened {
  release: Release;
  etag: string;
  certificate: Certificate;
}

async function open(path: string, signal: AbortSignal): Promise<Opened> {
  const { value: release, etag } = await ask<Release>("GET", path, { signal });
  const certificate = certificateOf(await get<unknown>(`${path}/certificate`, signal));
  return { release, etag, certificate };
}

export default function ReleasePage({ id }: { id: string }) {
  const path = `/releases/${encodeURIComponent(id)}`;
  const { loaded, reload } = useLoading(path, (signal) => open(path, signal));
  return (
    <Shown loaded={loaded} what="the release" retry={reload}>
      {(opened) => <OneRelease opened={opened} path={path} changed={reload} />}
    </Shown>
  );
}

function OneRelease({ opened, path, changed }: { opened: Opened; path: string; changed: () => void }) {
  const { release, certificate } = opened;
  const [isWithdrawing, setWithdrawing] = useState(false);
  const mayWithdraw = has(useMe(), "owner") && release.state !== "withdrawn";
  return (
    <>
      <p className="crumb">
        <Link to="/releases">Releases</Link>
      </p>
      <Head
        title={release.output}
        about={
          <>
            Released <Time at={release.created} /> by the policy <span className="iri">{release.policy}</span>.
          </>
        }
      >
        <ReleaseBadge state={release.state} />
        <a className="button" href={`${BASE}${path}/certificate`} download>
          Download certificate
        </a>
        {mayWithdraw && (
          <button type="button" className="danger" onClick={() => setWithdrawing(true)}>
            Withdraw …
          </button>
        )}
      </Head>
      <div className="stack">
        <Verifying path={`${path}:verify`} what="the release" />
        <Measured certificate={certificate} />
      </div>
      {isWithdrawing && (
        <Withdrawing
          path={path}
          etag={opened.etag}
          close={() => setWithdrawing(false)}
          done={() => {
            setWithdrawing(false);
            changed();
          }}
        />
      )}
    </>
  );
}

function Measured({ certificate }: { certificate: Certificate }) {
  return (
    <section className="panel">
      <h2>What was measured on the output</h2>
      {certificate.rows !== null && <p>{certificate.rows.toLocaleString("en")} rows were released.</p>}
      {certificate.measurements.length === 0 ? (
        <p className="quiet">The policy bounds nothing that is measured on rows.</p>
      ) : (
        <Measurements measurements={certificate.measurements} />
      )}
      {certificate.utility.length > 0 && (
        <>
          <h3>What it lost</h3>
          <dl className="facts">
            {certificate.utility.map(([name, value]) => (
              <div key={name} className="fact">
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}

function Measurements({ measurements }: { measurements: readonly Measurement[] }) {
  return (
    <TableFrame label="Measurements">
      <thead>
        <tr>
          <th scope="col">Bound</th>
          <th scope="col">Column</th>
          <th scope="col">Asked</th>
          <th scope="col">Measured</th>
        </tr>
      </thead>
      <tbody>
        {measurements.map((one) => (
          <tr key={`${one.bound} ${one.column}`}>
            <th scope="row">{one.bound}</th>
            <td>{one.column || <span className="quiet">all</span>}</td>
            <td>
              {one.sense} {one.asked}
            </td>
            <td>{one.achieved}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

interface WithdrawingProps {
  path: string;
  etag: string;
  close: () => void;
  done: () => void;
}

function Withdrawing({ path, etag, close, done }: WithdrawingProps) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  async function withdraw(): Promise<void> {
    try {
      await (etag ? ask("POST", `${path}:withdraw`, { etag }) : post(`${path}:withdraw`));
      say("The release is withdrawn.");
      done();
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }
  return (
    <Sheet title="Withdraw this release?" close={close}>
      <p>From then on nobody may read it. What was read already cannot be called back.</p>
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="button" className="danger" onClick={() => void withdraw()}>
          Withdraw
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Sheet>
  );
}
