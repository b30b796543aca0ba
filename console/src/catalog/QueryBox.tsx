import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { QueryAnswer } from "../api/types";
import { Badge } from "../parts/Badge";
import { Field } from "../parts/Field";
import { ProblemList } from "../parts/ProblemList";
import { Refused } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Cost } from "./Cost";
import { OwnBudgets } from "./OwnBudgets";
import { ReviewNote } from "./ReviewNote";

interface Question {
  sql: string;
  purpose: string;
  dry_run: boolean;
  epsilon: string;
  delta: string;
  comment: string;
  exception: string;
}

/** A question in SQL: whether it may be asked, the answer as it was checked, and why. */
export function QueryBox() {
  const [asked, setAsked] = useState<{ question: Question; answer: QueryAnswer } | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [times, setTimes] = useState(0);

  async function ask(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const submitter = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
    const form = new FormData(event.currentTarget);
    const question = {
      sql: String(form.get("sql")),
      purpose: String(form.get("purpose")).trim(),
      dry_run: submitter?.value === "dry",
      epsilon: String(form.get("epsilon")).trim(),
      delta: String(form.get("delta")).trim(),
      comment: String(form.get("comment")).trim(),
      exception: "",
    };
    await send(question);
  }

  async function send(question: Question): Promise<void> {
    setBusy(true);
    setRefusal(null);
    setAsked(null);
    try {
      setAsked({ question, answer: await post<QueryAnswer>("/queries", question) });
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
      setTimes((before) => before + 1);
    }
  }

  return (
    <section className="panel query">
      <h2>Query data</h2>
      <form className="stack" onSubmit={(event) => void ask(event)}>
        <Field label="Query" hint="SQL that reads, on data by the last part of their name. Every query is logged.">
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
          <span>Purpose of the query</span>
          <input name="purpose" autoComplete="off" />
        </label>
        <details>
          <summary>Statistics with noise, under differential privacy</summary>
          <div className="stack">
            <Field
              label="Epsilon"
              hint="How much the answer may tell of one person, such as 0.5: less is more noise. It is charged to the budget."
            >
              {(given) => <input {...given} name="epsilon" inputMode="decimal" autoComplete="off" />}
            </Field>
            <Field label="Delta" hint="Only where the policy asks for one, such as 1e-6.">
              {(given) => <input {...given} name="delta" autoComplete="off" />}
            </Field>
            <OwnBudgets asked={times} />
          </div>
        </details>
        <Field label="Comment" hint="For the checker, where a person has to decide about the answer.">
          {(given) => <input {...given} name="comment" maxLength={2000} autoComplete="off" />}
        </Field>
        <div className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {isBusy ? "Asking …" : "Run"}
          </button>
          <button type="submit" value="dry" disabled={isBusy}>
            Only show what would run
          </button>
        </div>
      </form>
      {refusal && <Refused refusal={refusal} />}
      {asked && (
        <>
          <AnswerView answer={asked.answer} isDry={asked.question.dry_run} />
          <ReviewNote
            answer={asked.answer}
            isBusy={isBusy}
            ask={(exception) => void send({ ...asked.question, exception })}
          />
        </>
      )}
    </section>
  );
}

export function AnswerView({ answer, isDry }: { answer: QueryAnswer; isDry: boolean }) {
  const suppressed = answer.suppressed ?? [];
  const reason = answer.decision?.["reason"];
  return (
    <div className="stack" role="status">
      <p>
        <Badge tone={answer.permitted ? "good" : answer.review ? "warn" : "bad"}>
          {answer.permitted ? "permitted" : answer.review ? "waits for a person" : "denied"}
        </Badge>{" "}
        {typeof reason === "string" && reason}
      </p>
      {(answer.reasons ?? []).length > 0 && <ProblemList problems={answer.reasons ?? []} />}
      {answer.suggestion && <p>{answer.suggestion}</p>}
      {suppressed.length > 0 && <Suppressed answer={answer} />}
      {answer.cost && <Cost cost={answer.cost} isDry={isDry} />}
      {answer.permitted && !isDry && <Rows answer={answer} />}
      {answer.sql && (
        <details open={isDry}>
          <summary>The query as it {isDry ? "would be" : "was"} run, on what you may read</summary>
          <pre tabIndex={0}>{answer.sql}</pre>
        </details>
      )}
    </div>
  );
}

/** Which cells are not shown: counted by the reasons, which are codes with their meanings. */
function Suppressed({ answer }: { answer: QueryAnswer }) {
  const cells = answer.suppressed ?? [];
  const counts = new Map<string, number>();
  for (const code of cells.flatMap((cell) => cell.codes)) counts.set(code, (counts.get(code) ?? 0) + 1);
  return (
    <div className="notice warn">
      <p>
        <strong>{cells.length === 1 ? "1 cell is" : `${cells.length} cells are`} left out:</strong>
      </p>
      <ul className="bullets">
        {[...counts].map(([code, count]) => (
          <li key={code}>
            {count} × {answer.meanings?.[code] ?? code}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Rows({ answer }: { answer: QueryAnswer }) {
  const columns = answer.columns ?? [];
  const hidden = new Set((answer.suppressed ?? []).map((cell) => `${cell.row} ${cell.column}`));
  return (
    <>
      <TableFrame label="Answer">
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(answer.rows ?? []).map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>
                  {hidden.has(`${index} ${column}`) ? (
                    <span className="quiet">left out</span>
                  ) : (
                    String(row[column] ?? "")
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </TableFrame>
      {answer.is_cut && <p className="fine">There are more rows than are shown.</p>}
    </>
  );
}
