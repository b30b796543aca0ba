import { useGet } from "../api/loading";
import type { Dataset, Page } from "../api/types";
import { Link } from "../app/router";
import { Head } from "../parts/Head";
import { Empty, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";

export default function DataList() {
  const { loaded, reload } = useGet<Page<Dataset>>("/datasets?limit=200");
  return (
    <>
      <Head title="Data and plan" about="What was uploaded, what its columns hold, and what a policy would do with them.">
        <Link className="button primary" to="/data/new">
          Add data
        </Link>
      </Head>
      <Shown loaded={loaded} what="data" retry={reload}>
        {(page) => (page.items.length === 0 ? <NoData /> : <Datasets datasets={page.items} />)}
      </Shown>
    </>
  );
}

function NoData() {
  return (
    <Empty title="No data yet">
      <ol className="steps">
        <li>
          <strong>Upload a table</strong>, CSV or Parquet. It is read by runs alone and shown to nobody.
        </li>
        <li>
          <strong>Confirm what its columns hold.</strong> Roles are proposed; you decide.
        </li>
        <li>
          <strong>Look at the plan</strong> that a published policy makes for it, and start the run.
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
            <td className="number">{dataset.rows?.toLocaleString("en") ?? "–"}</td>
            <td className="number">{dataset.columns.length || "–"}</td>
            <td>
              <Time at={dataset.created} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
