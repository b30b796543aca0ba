import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import { Badge } from "../parts/Badge";
import { Field } from "../parts/Field";
import { Refused } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";

interface Answer {
  permitted: boolean;
  columns: string[];
  rows: unknown[][];
  suppressed: number | unknown[];
  reasons: string[];
  rewritten: string;
}

/** A question in SQL: whether it may be asked, the answer as it was checked, and why. */
export function QueryBox() {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function ask(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setRefusal(null);
    setAnswer(null);
    try {
      setAnswer(await post<Answer>("/queries", { sql: form.get("sql"), purpose: form.get("purpose") }));
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section className="panel query">
      <h2>Ask a question</h2>
      <form className="stack" onSubmit={(event) => void ask(event)}>
        <Field label="Query" hint="SQL that reads. Whether it may run is decided by the policies, and logged.">
          {(given) => (
            <textarea
              {...given}
              name="sql"
              required
              spellCheck={false}
              placeholder="SELECT StoreCategory, count(*) FROM anonCustomer GROUP BY StoreCategory"
            />
          )}
        </Field>
        <label className="field">
          <span>Purpose</span>
          <input name="purpose" required autoComplete="off" />
        </label>
        <div className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {isBusy ? "Asking …" : "Ask"}
          </button>
        </div>
      </form>
      {refusal && <Refused refusal={refusal} />}
      {answer && <AnswerView answer={answer} />}
    </section>
  );
}

function AnswerView({ answer }: { answer: Answer }) {
  const suppressed = Array.isArray(answer.suppressed) ? answer.suppressed.length : answer.suppressed;
  return (
    <div className="stack" role="status">
      <p>
        <Badge tone={answer.permitted ? "good" : "bad"}>{answer.permitted ? "Permit" : "Deny"}</Badge>{" "}
        {suppressed > 0 && <>{suppressed === 1 ? "1 cell is" : `${suppressed} cells are`} left out.</>}
      </p>
      {answer.reasons.length > 0 && (
        <ul className="bullets">
          {answer.reasons.map((reason, index) => (
            <li key={index}>{reason}</li>
          ))}
        </ul>
      )}
      {answer.permitted && <Rows columns={answer.columns} rows={answer.rows} />}
      {answer.rewritten && (
        <details>
          <summary>The query as it was run</summary>
          <pre tabIndex={0}>{answer.rewritten}</pre>
        </details>
      )}
    </div>
  );
}

function Rows({ columns, rows }: { columns: readonly string[]; rows: readonly unknown[][] }) {
  return (
    <TableFrame label="Answer">
      <thead>
        <tr>
          {columns.map((column, index) => (
            <th scope="col" key={index}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, place) => (
              <td key={place}>{cell === null ? <span className="quiet">left out</span> : String(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
