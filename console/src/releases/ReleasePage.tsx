import { useState } from "react";
import { BASE, get } from "../api/client";
import { useLoading } from "../api/loading";
import type { Me, Page, Policy, Release } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { LineagePanel } from "../lineage/LineagePanel";
import { Head } from "../parts/Head";
import { Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { lossesOf, type Certificate } from "./certificate";
import { Measurements } from "./Measurements";
import { Withdrawing } from "../parts/Withdrawing";
import { BeforeAndAfter } from "./BeforeAndAfter";
import { ReleaseBadge } from "./ReleaseBadge";
import { VerifyingRelease } from "./VerifyingRelease";

interface Opened {
  release: Release;
  certificate: Certificate;
  policy: Policy | undefined;
}

/** A release, its certificate, and its policy where the reader may see that. */
async function open(path: string, me: Me, signal: AbortSignal): Promise<Opened> {
  const release = await get<Release>(path, signal);
  const certificate = await get<Certificate>(`${path}/certificate`, signal);
  if (!has(me, "owner", "steward", "auditor")) return { release, certificate, policy: undefined };
  const policies = await get<Page<Policy>>("/policies?limit=200", signal);
  return { release, certificate, policy: policies.items.find((one) => one.id === release.policy) };
}

export default function ReleasePage({ id }: { id: string }) {
  const path = `/releases/${encodeURIComponent(id)}`;
  const me = useMe();
  const { loaded, reload } = useLoading(path, (signal) => open(path, me, signal));
  return (
    <Shown loaded={loaded} what="the release" retry={reload}>
      {(opened) => <OneRelease opened={opened} path={path} changed={reload} />}
    </Shown>
  );
}

function OneRelease({ opened, path, changed }: { opened: Opened; path: string; changed: () => void }) {
  const { release, certificate, policy } = opened;
  const [isWithdrawing, setWithdrawing] = useState(false);
  const me = useMe();
  const isMine = has(me, "owner") && policy?.owner === me.id;
  return (
    <>
      <p className="crumb">
        <Link to="/releases">Releases</Link>
      </p>
      <Head title={release.output} about={<>Released <Time at={release.created} /></>}>
        <ReleaseBadge state={release.state} />
        <a className="button" href={`${BASE}${path}/certificate`} download={`${release.id}.certificate.json`}>
          Download the certificate
        </a>
        {has(me, "steward") && release.state !== "withdrawn" && (
          <Link className="button" to={`/runs/new?${new URLSearchParams({ kind: "assess", release: release.run })}`}>
            Attack it
          </Link>
        )}
        {isMine && release.state !== "withdrawn" && (
          <button type="button" className="danger" onClick={() => setWithdrawing(true)}>
            Withdraw …
          </button>
        )}
      </Head>
      <div className="stack">
        {release.state === "withdrawn" && (
          <p className="notice bad">
            <strong>Nobody may read it any more.</strong> {release.reason}
          </p>
        )}
        {release.state === "replaced" && <p className="notice">A newer release of it is read in its place.</p>}
        <div className="columns">
          <Facts release={release} policy={policy} />
          <Measured certificate={certificate} />
        </div>
        <BeforeAndAfter path={path} output={release.output} />
        <VerifyingRelease path={path} />
        <LineagePanel path={path} round={release.state} />
      </div>
      {isWithdrawing && (
        <Withdrawing
          path={path}
          title="Withdraw this release?"
          meaning="From then on nobody may read it, whatever policies say. What was already read cannot be taken back, and the release stays withdrawn: to release the data again, start another run."
          result="The release is withdrawn."
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

function Facts({ release, policy }: { release: Release; policy: Policy | undefined }) {
  const seesRuns = has(useMe(), "owner", "steward", "auditor");
  return (
    <section className="panel">
      <h2>Release</h2>
      <dl className="facts">
        <dt>Rows</dt>
        <dd>{release.rows?.toLocaleString("en") ?? <span className="quiet">not a table</span>}</dd>
        <dt>Policy</dt>
        <dd>
          {policy ? <Link to={`/policies/${encodeURIComponent(policy.id)}`}>{policy.name}</Link> : release.policy},
          version {release.version}
        </dd>
        <dt>Run</dt>
        <dd>{seesRuns ? <Link to={`/runs/${encodeURIComponent(release.run)}`}>{release.run}</Link> : release.run}</dd>
      </dl>
    </section>
  );
}

function Measured({ certificate }: { certificate: Certificate }) {
  const losses = lossesOf(certificate);
  return (
    <section className="panel">
      <h2>Certificate</h2>
      {certificate.measurements.length === 0 ? (
        <p className="quiet">The policy bounds nothing that is measured on rows.</p>
      ) : (
        <Measurements label="Certificate" measurements={certificate.measurements} />
      )}
      {losses.length > 0 && (
        <>
          <h3>What it lost</h3>
          <dl className="facts">
            {losses.map(([name, value]) => (
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
