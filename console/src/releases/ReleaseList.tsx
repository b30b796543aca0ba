import { useGet } from "../api/loading";
import type { Page, Release } from "../api/types";
import { Link } from "../app/router";
import { Head } from "../parts/Head";
import { Empty, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";
import { ReleaseBadge } from "./ReleaseBadge";
import { Sections } from "./Sections";

export default function ReleaseList() {
  const { loaded, reload } = useGet<Page<Release>>("/releases?limit=200");
  return (
    <>
      <Head title="Releases" about="What was sanitised, each with a certificate of what was measured on it." />
      <Sections />
      <Shown loaded={loaded} what="releases" retry={reload}>
        {(page) => (page.items.length === 0 ? <NoReleases /> : <Releases releases={page.items} />)}
      </Shown>
    </>
  );
}

function NoReleases() {
  return (
    <Empty title="Nothing is released yet">
      <p>
        A release is made by a run that sanitises data by a policy. When its output is measured to satisfy
        the policy, it is listed here with its certificate.
      </p>
    </Empty>
  );
}

function Releases({ releases }: { releases: readonly Release[] }) {
  return (
    <TableFrame label="Releases">
      <thead>
        <tr>
          <th scope="col">Output</th>
          <th scope="col">State</th>
          <th scope="col">Policy</th>
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
            <td className="iri">{release.policy}</td>
            <td>
              <Time at={release.created} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
