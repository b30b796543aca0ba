import { useGet } from "../api/loading";
import type { Release, Releases } from "../api/types";
import { Link } from "../app/router";
import { Head } from "../parts/Head";
import { Empty, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";
import { ReleaseBadge } from "./ReleaseBadge";

export default function ReleaseList() {
  const { loaded, reload } = useGet<Releases>("/releases");
  return (
    <>
      <Head
        title="Releases"
        about="What was made of data, each with a certificate of what was measured on it. Policies decide who may read one."
      />
      <Shown loaded={loaded} what="releases" retry={reload}>
        {(all) => (all.items.length === 0 ? <NoReleases /> : <ReleaseTable releases={all.items} />)}
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

function ReleaseTable({ releases }: { releases: readonly Release[] }) {
  return (
    <TableFrame label="Releases">
      <thead>
        <tr>
          <th scope="col">Release</th>
          <th scope="col">State</th>
          <th scope="col">Rows</th>
          <th scope="col">Released</th>
        </tr>
      </thead>
      <tbody>
        {releases.map((release) => (
          <tr key={release.id}>
            <th scope="row" className="iri">
              <Link to={`/releases/${encodeURIComponent(release.id)}`}>{release.output}</Link>
            </th>
            <td>
              <ReleaseBadge state={release.state} />
            </td>
            <td className="number">{release.rows?.toLocaleString("en")}</td>
            <td>
              <Time at={release.created} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
