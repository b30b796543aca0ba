import { useGet } from "../api/loading";
import type { Release, Releases } from "../api/types";
import { Link } from "../app/router";
import { Head } from "../parts/Head";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { Empty, Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { ReleaseBadge } from "./ReleaseBadge";
import { ReleaseSections } from "./ReleaseSections";

export default function ReleaseList() {
  const { loaded, reload } = useGet<Releases>("/releases");
  return (
    <>
      <Head
        title="Releases"
        about="What was made of data, each with a certificate of what was measured on it. Policies decide who may read one."
      />
      <ReleaseSections />
      <Shown loaded={loaded} what="releases" retry={reload}>
        {(all) =>
          all.items.length === 0 ? (
            <NoReleases />
          ) : (
            <ListTable label="Releases" items={all.items} keyOf={(one) => one.id} columns={COLUMNS} />
          )
        }
      </Shown>
    </>
  );
}

function NoReleases() {
  return (
    <Empty title="Nothing is released yet">
      <p>
        A release is made by a run that sanitises data by a policy. Once its output is measured to satisfy the
        policy, it is listed here with its certificate.
      </p>
    </Empty>
  );
}

const COLUMNS: readonly ListColumn<Release>[] = [
  {
    name: "Release",
    look: "iri",
    cell: (release) => <Link to={`/releases/${encodeURIComponent(release.id)}`}>{release.output}</Link>,
  },
  { name: "State", cell: (release) => <ReleaseBadge state={release.state} /> },
  { name: "Rows", look: "number", cell: (release) => release.rows?.toLocaleString("en") },
  { name: "Released", cell: (release) => <Time at={release.created} /> },
];
