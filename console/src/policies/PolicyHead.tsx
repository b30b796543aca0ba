import { useMe } from "../app/session";
import { Head } from "../parts/Head";
import { Time } from "../parts/Time";
import type { Draft } from "./useDraft";
import { VersionBadge } from "./VersionBadge";

interface Props {
  mayWrite: boolean;
  draft: Draft;
  isValid: boolean;
  show: (version: number) => void;
  save: () => void;
  publish: () => void;
  approve: () => void;
  withdraw: () => void;
}

export function PolicyHead({ mayWrite, draft, isValid, show, save, publish, approve, withdraw }: Props) {
  const { policy, version } = draft.opened;
  const me = useMe();
  const isProposal = version.state === "proposed";
  const mayApprove = isProposal && me.roles.includes("owner") && version.author !== me.id;
  const isInForce = policy.published_version != null;
  const mayWithdraw = isInForce && me.roles.includes("owner") && policy.owner === me.id;
  const isNew = draft.isChanged || version.state === "draft";
  return (
    <Head title={policy.name} about={<About draft={draft} />}>
      <VersionChoice draft={draft} show={show} />
      {mayWrite && (
        <>
          <button type="button" onClick={save} disabled={!draft.isChanged || draft.isBusy} title="Ctrl+S or ⌘S">
            {draft.isBusy ? "Saving …" : "Save draft"}
          </button>
          <button
            type="button"
            className="primary"
            onClick={publish}
            disabled={!isNew || !isValid || draft.isBusy}
            title={isValid ? undefined : "What is wrong with the text has to be fixed first."}
          >
            Publish …
          </button>
        </>
      )}
      {mayWithdraw && (
        <button
          type="button"
          className="danger"
          onClick={withdraw}
          disabled={draft.isChanged || draft.isBusy}
          title={draft.isChanged ? "Save the draft first." : undefined}
        >
          Withdraw …
        </button>
      )}
      {mayApprove && (
        <button type="button" className="primary" onClick={approve} disabled={draft.isBusy}>
          Approve and publish
        </button>
      )}
    </Head>
  );
}

function About({ draft }: { draft: Draft }) {
  const { version } = draft.opened;
  if (draft.isChanged) return <>Changes are not saved yet.</>;
  if (version.state === "proposed") return <>Waiting until another owner approves of it.</>;
  if (version.state === "published") {
    return (
      <>
        In force since <Time at={version.published} />.
      </>
    );
  }
  if (version.state === "withdrawn") return <>Withdrawn: {version.reason}</>;
  return (
    <>
      {version.state === "draft" ? "Draft" : "Replaced"}, written <Time at={version.created} />.
    </>
  );
}

function VersionChoice({ draft, show }: { draft: Draft; show: (version: number) => void }) {
  const { policy, version } = draft.opened;
  return (
    <span className="actions">
      <VersionBadge state={version.state} />
      <label>
        <span className="hidden">Version</span>
        <select
          value={version.number}
          disabled={draft.isChanged}
          title={draft.isChanged ? "Save the draft to see another version." : undefined}
          onChange={(event) => show(Number(event.target.value))}
        >
          {[...policy.versions]
            .sort((one, two) => two.number - one.number)
            .map((one) => (
              <option key={one.number} value={one.number}>
                Version {one.number}, {one.state}
              </option>
            ))}
        </select>
      </label>
    </span>
  );
}
