import { useGet } from "../api/loading";
import type { Dataset, Page } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { Empty, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";

export default function DataList() {
  const mayWrite = has(useMe(), "owner", "steward");
  const { loaded, reload } = useGet<Page<Dataset>>("/datasets?limit=200");
  return (
    <>
      <Head title="Data" about="What was uploaded, and what policies call it. No value of it is shown here.">
        {mayWrite && (
          <Link className="button primary" to="/data/new">
            Add data
          </Link>
        )}
      </Head>
      <Shown loaded={loaded} what="data" retry={reload}>
        {(page) => (page.items.length === 0 ? <NoData mayWrite={mayWrite} /> : <Datasets datasets={page.items} />)}
      </Shown>
    </>
  );
}

function NoData({ mayWrite }: { mayWrite: boolean }) {
  if (!mayWrite) {
    return (
      <Empty title="No data yet">
        <p>Owners and stewards of data upload them. What is there is listed here, without any value of it.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No data yet">
      <ol className="steps">
        <li>
          <strong>Upload a table</strong>, CSV or Parquet. It is read by runs alone and shown to nobody.
        </li>
        <li>
          <strong>See its columns</strong>, and what policies call each of them.
        </li>
        <li>
          <strong>Write a policy about it</strong>: who may read it, for which purpose, sanitised how.
        </li>
      </ol>
      <p>
        <Link className="button primary" to="/data/new">
          Add data
        </Link>
      </p>
    </Empty>
  );
}

function Datasets({ datasets }: { datasets: readonly Dataset[] }) {
  return (
    <TableFrame label="Data">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Identifier</th>
          <th scope="col">Rows</th>
          <th scope="col">Columns</th>
          <th scope="col">Added</th>
        </tr>
      </thead>
      <tbody>
        {datasets.map((dataset) => (
          <tr key={dataset.id}>
            <th scope="row">
              <Link to={`/data/${encodeURIComponent(dataset.id)}`}>{dataset.name}</Link>
            </th>
            <td className="iri">{dataset.iri}</td>
            <td className="number">{dataset.rows?.toLocaleString("en") ?? "no file yet"}</td>
            <td className="number">{dataset.columns.length || ""}</td>
            <td>
              <Time at={dataset.created} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
