import { useState } from "react";
import { useGet } from "../api/loading";
import type { Page, Release } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { Empty, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { QueryBox } from "./QueryBox";

export default function CatalogPage() {
  const { loaded, reload } = useGet<Page<Release>>("/releases?limit=200");
  const mayQuery = has(useMe(), "consumer");
  return (
    <>
      <Head title="Catalog and access" about="What there is to read, and the questions that may be asked of it." />
      <div className="stack">
        <Shown loaded={loaded} what="the catalog" retry={reload}>
          {(page) => <Catalog releases={page.items.filter((one) => one.state !== "withdrawn")} />}
        </Shown>
        {mayQuery && <QueryBox />}
      </div>
    </>
  );
}

function Catalog({ releases }: { releases: readonly Release[] }) {
  const [sought, setSought] = useState("");
  if (releases.length === 0) {
    return (
      <Empty title="Nothing is released yet">
        <p>Data is listed here once it was sanitised by a policy and measured to satisfy it.</p>
      </Empty>
    );
  }
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const found = releases.filter((one) => words.every((word) => `${one.output} ${one.policy}`.toLowerCase().includes(word)));
  return (
    <section className="panel">
      <label className="field">
        <span>Search</span>
        <input type="search" value={sought} onChange={(event) => setSought(event.target.value)} />
      </label>
      {found.length === 0 ? (
        <p className="quiet">Nothing has these words in its name.</p>
      ) : (
        <TableFrame label="Catalog">
          <thead>
            <tr>
              <th scope="col">Data</th>
              <th scope="col">Policy</th>
            </tr>
          </thead>
          <tbody>
            {found.map((one) => (
              <tr key={one.id}>
                <th scope="row" className="iri">
                  <Link to={`/releases/${encodeURIComponent(one.id)}`}>{one.output}</Link>
                </th>
                <td className="iri">{one.policy}</td>
              </tr>
            ))}
          </tbody>
        </TableFrame>
      )}
    </section>
  );
}
