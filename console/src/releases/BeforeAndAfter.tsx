import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { QueryAnswer, ReleaseContrast } from "../api/types";
import { has, useMe } from "../app/session";
import { AnswerView } from "../catalog/QueryBox";
import { Name } from "../parts/Name";
import { Refused, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";

/** What the columns of a release were and became, and a few rows as far as policies allow. */
export function BeforeAndAfter({ path, output }: { path: string; output: string }) {
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  const seesColumns = has(me, "owner", "steward", "auditor");
  const mayAsk = has(me, "consumer");
  if (!seesColumns && !mayAsk) return null;
  return (
    <section className="panel">
      <h2>Before and after</h2>
      {seesColumns &&
        (isOpen ? (
          <Columns path={path} mayAsk={mayAsk} />
        ) : (
          <button type="button" onClick={() => setOpen(true)}>
            Compare the columns
          </button>
        ))}
      {mayAsk && <Sample iri={output} title="A few rows after" />}
    </section>
  );
}

function Columns({ path, mayAsk }: { path: string; mayAsk: boolean }) {
  const { loaded, reload } = useGet<ReleaseContrast>(`${path}:contrast`);
  return (
    <Shown loaded={loaded} what="columns before and after" retry={reload}>
      {(contrast) => (
        <>
          <TableFrame label="Columns before and after">
            <thead>
              <tr>
                <th scope="col">Column</th>
                <th scope="col">
                  Before, in{" "}
                  {contrast.inputs.map((one) => (
                    <Name key={one} iri={one} />
                  ))}
                </th>
                <th scope="col">
                  After, in <Name iri={contrast.output} />
                </th>
              </tr>
            </thead>
            <tbody>
              {contrast.columns.map((column) => (
                <tr key={column.name}>
                  <th scope="row">{column.name}</th>
                  <td>{lookOf(column.before)}</td>
                  <td>{lookOf(column.after)}</td>
                </tr>
              ))}
            </tbody>
          </TableFrame>
          {mayAsk && contrast.inputs.map((one) => <Sample key={one} iri={one} title="A few rows before" />)}
        </>
      )}
    </Shown>
  );
}

type Look = ReleaseContrast["columns"][number]["before"];

function lookOf(look: Look): string {
  if (look == null) return "not there";
  return `${look.kind}, ${look.distinct} values, ${look.missing} missing`;
}

/** Rows by a query in one's own name: policies decide it, and it is logged, as any other. */
function Sample({ iri, title }: { iri: string; title: string }) {
  const [answer, setAnswer] = useState<QueryAnswer | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  async function show(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const purpose = String(new FormData(event.currentTarget).get("purpose")).trim();
    const sql = `SELECT * FROM "${iri.replaceAll('"', '""')}" LIMIT 10`;
    setRefusal(null);
    setAnswer(null);
    try {
      setAnswer(await post<QueryAnswer>("/queries", { sql, purpose }));
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }
  return (
    <details>
      <summary>{title}</summary>
      <form className="request" onSubmit={(event) => void show(event)}>
        <label className="field">
          <span>For the purpose</span>
          <input name="purpose" autoComplete="off" />
        </label>
        <button type="submit">Show what I may read</button>
      </form>
      {refusal && <Refused refusal={refusal} />}
      {answer && <AnswerView answer={answer} isDry={false} />}
    </details>
  );
}
