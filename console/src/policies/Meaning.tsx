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
  const isConditional = matrix.rows.some((row) => Object.values(row.cells).includes("conditional"));
  return (
    <>
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
            <td>{row.purpose ? <Name iri={row.purpose} /> : <span className="quiet">none</span>}</td>
            {matrix.assignees.map((assignee) => (
              <Cell key={assignee} ability={row.cells[assignee] ?? "deny"} />
            ))}
          </tr>
        ))}
      </tbody>
    </TableFrame>
      {matrix.is_cut && <p className="fine">It is cut: the policy names more than fits here.</p>}
      {isConditional && (
        <p className="fine">
          Under conditions: once an output is certified, duties are fulfilled, and what the policy asks for holds.
        </p>
      )}
    </>
  );
}

const CELLS: Record<string, string> = {
  permit: "✓ may",
  conditional: "✓ under conditions",
  deny: "✗ may not",
};

function Cell({ ability }: { ability: string }) {
  return <td className={`cell ${ability}`}>{CELLS[ability]}</td>;
}
