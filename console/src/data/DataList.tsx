import { useGet } from "../api/loading";
import type { Dataset, Page } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { Empty, Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { Models } from "./Models";
import { Stewards } from "./Stewards";

export default function DataList() {
  const me = useMe();
  const mayWrite = has(me, "owner", "steward");
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
        {(page) => (page.items.length === 0 ? <NoData mayWrite={mayWrite} /> : <ListTable label="Data" items={page.items} keyOf={(one) => one.id} columns={COLUMNS} />)}
      </Shown>
      <div className="below">
        <Models mayWrite={mayWrite} />
      </div>
      {has(me, "owner") && (
        <div className="below">
          <Stewards />
        </div>
      )}
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

const COLUMNS: readonly ListColumn<Dataset>[] = [
  {
    name: "Name",
    cell: (dataset) => <Link to={`/data/${encodeURIComponent(dataset.id)}`}>{dataset.name}</Link>,
  },
  { name: "Identifier", look: "iri", cell: (dataset) => dataset.iri },
  { name: "Rows", look: "number", cell: (dataset) => dataset.rows?.toLocaleString("en") ?? "no file yet" },
  { name: "Columns", look: "number", cell: (dataset) => dataset.columns.length || "" },
  { name: "Added", cell: (dataset) => <Time at={dataset.created} /> },
];
