import type { Matrix } from "../api/types";
import { Name } from "../parts/Name";
import { Refused } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import type { Explained } from "./useExplanation";

interface Props {
  explained: Explained;
  isCurrent: boolean;
}

/** What the policy says, in sentences and as a table of who can do what. */
export function Meaning({ explained, isCurrent }: Props) {
  const { explanation, refusal } = explained;
  if (refusal?.status === 404 || refusal?.status === 405) return null; // an older service
  return (
    <div className={isCurrent ? "stack" : "stack stale"}>
      <section className="panel">
        <h2>In plain words</h2>
        {!isCurrent && explanation && <Stale />}
        {refusal && <Refused refusal={refusal} />}
        {explanation ? (
          <Sentences sentences={explanation.sentences} />
        ) : (
          !refusal && <p className="quiet">What the policy says is read out here once it is valid.</p>
        )}
      </section>
      <section className="panel">
        <h2>Who can do what</h2>
        {explanation ? (
          <WhoCanDoWhat matrix={explanation.matrix} />
        ) : (
          <p className="quiet">Parties and data that the policy names are listed here once it is valid.</p>
        )}
      </section>
    </div>
  );
}

function Stale() {
  return <p className="fine">Of the last text that was valid, not of what is written now.</p>;
}

function Sentences({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return <p>It permits nothing, and so denies everything.</p>;
  return (
    <ul className="sentences">
      {sentences.map((sentence, index) => (
        <li key={index}>{sentence}</li>
      ))}
    </ul>
  );
}

function WhoCanDoWhat({ matrix }: { matrix: Matrix }) {
  if (matrix.rows.length === 0) return <p className="quiet">The policy names nobody and no data.</p>;
  return (
    <TableFrame label="Who can do what">
      <thead>
        <tr>
          <th scope="col">Data</th>
          <th scope="col">Action</th>
          <th scope="col">Purpose</th>
          {matrix.assignees.map((assignee) => (
            <th scope="col" key={assignee}>
              <Name iri={assignee} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {matrix.rows.map((row) => (
          <tr key={`${row.target} ${row.action} ${row.purpose}`}>
            <th scope="row">
              <Name iri={row.target} />
            </th>
            <td>
              <Name iri={row.action} />
            </td>
            <td>{row.purpose ? <Name iri={row.purpose} /> : <span className="quiet">any</span>}</td>
            {matrix.assignees.map((assignee) => (
              <Cell key={assignee} effect={row.cells[assignee] ?? "deny"} />
            ))}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function Cell({ effect }: { effect: string }) {
  const isPermit = effect === "permit";
  return <td className={isPermit ? "cell permit" : "cell deny"}>{isPermit ? "✓ permit" : "– deny"}</td>;
}
