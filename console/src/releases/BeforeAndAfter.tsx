import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { QueryAnswer, ReleaseContrast } from "../api/types";
import { has, useMe } from "../app/session";
import { AnswerView } from "../catalog/QueryBox";
import { Field } from "../parts/Field";
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
                  <td>{column.before ? lookOf(column.before) : <span className="quiet">not there yet</span>}</td>
                  <td>{column.after ? lookOf(column.after) : <span className="quiet">left out</span>}</td>
                </tr>
              ))}
            </tbody>
          </TableFrame>
          <p className="fine">Of the number of distinct values, only the order of magnitude is shown.</p>
          {mayAsk && contrast.inputs.map((one) => <Sample key={one} iri={one} title="A few rows before" />)}
        </>
      )}
    </Shown>
  );
}

type Look = NonNullable<ReleaseContrast["columns"][number]["before"]>;

function lookOf({ kind, distinct, missing }: Look): string {
  const range = distinct.replace(/\d+/g, (number) => Number(number).toLocaleString("en")).replace("-", "–");
  return `${kind}: ${range} values, ${missing} missing`;
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
      <form className="stack" onSubmit={(event) => void show(event)}>
        <Field label="For the purpose" hint="By its identifier; empty for none. What policies let you read is logged, as any query.">
          {(given) => <input {...given} name="purpose" maxLength={2000} autoComplete="off" />}
        </Field>
        <div className="actions">
          <button type="submit">Show what I may read</button>
        </div>
      </form>
      {refusal && <Refused refusal={refusal} />}
      {answer && <AnswerView answer={answer} isDry={false} />}
    </details>
  );
}
