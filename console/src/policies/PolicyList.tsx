import { useGet } from "../api/loading";
import type { Page, Policy } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { Empty, Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { TemplateCards } from "./TemplateCards";
import { VersionBadge } from "./VersionBadge";

export default function PolicyList() {
  const mayWrite = has(useMe(), "owner");
  const { loaded, reload } = useGet<Page<Policy>>("/policies?limit=200");
  return (
    <>
      <Head
        title="Policies"
        about="A policy says who may read which data, for which purpose, and how the data must be sanitised first."
      >
        {mayWrite && (
          <Link className="button primary" to="/policies/new">
            New policy
          </Link>
        )}
      </Head>
      <Shown loaded={loaded} what="policies" retry={reload}>
        {(page) =>
          page.items.length === 0 ? (
            <NoPolicies mayWrite={mayWrite} />
          ) : (
            <ListTable label="Policies" items={page.items} keyOf={(one) => one.id} columns={COLUMNS} />
          )
        }
      </Shown>
    </>
  );
}

function NoPolicies({ mayWrite }: { mayWrite: boolean }) {
  if (!mayWrite) {
    return (
      <Empty title="No policies yet">
        <p>Owners of data write them. Once one is published, it is listed here.</p>
      </Empty>
    );
  }
  return (
    <Empty title="Start with a policy">
      <p>Three steps lead from here to a release that is safe to share:</p>
      <ol className="steps">
        <li>
          <strong>Write a policy.</strong> Choose a template below; what is wrong with it is marked while
          you type.
        </li>
        <li>
          <strong>Publish it.</strong> From then on it counts, and its versions are kept.
        </li>
        <li>
          <strong>Sanitise data by it.</strong> A data steward uploads the data, looks at the plan and
          starts the run.
        </li>
      </ol>
      <TemplateCards />
    </Empty>
  );
}

const COLUMNS: readonly ListColumn<Policy>[] = [
  {
    name: "Name",
    cell: (policy) => <Link to={`/policies/${encodeURIComponent(policy.id)}`}>{policy.name}</Link>,
  },
  {
    name: "In force",
    cell: (policy) =>
      policy.published_version == null ? (
        <span className="quiet">not published</span>
      ) : (
        `Version ${policy.published_version}`
      ),
  },
  { name: "Latest version", cell: (policy) => <Latest policy={policy} /> },
  {
    name: "Changed",
    cell: (policy) => <Time at={latestOf(policy).published ?? latestOf(policy).created} />,
  },
];

function Latest({ policy }: { policy: Policy }) {
  const latest = latestOf(policy);
  return (
    <>
      {latest.number} <VersionBadge state={latest.state} />
    </>
  );
}

function latestOf(policy: Policy): Policy["versions"][number] {
  return policy.versions.reduce((one, two) => (two.number > one.number ? two : one), policy.versions[0]!);
}
