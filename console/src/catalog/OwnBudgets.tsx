import { useEffect } from "react";
import { useGet } from "../api/loading";
import type { OwnBudgets as Accounts } from "../api/types";
import { Name } from "../parts/Name";
import { Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";

/** What statistics that one asked for have spent of each dataset, and what is left to one. */
export function OwnBudgets({ asked }: { asked: number }) {
  const { loaded, reload } = useGet<Accounts>("/me/budgets");
  useEffect(() => {
    if (asked) reload();
  }, [asked, reload]);
  return (
    <Shown loaded={loaded} what="your budgets" retry={reload}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="fine">You have spent nothing of the budget of any dataset yet.</p>
        ) : (
          <TableFrame label="Your budgets">
            <thead>
              <tr>
                <th scope="col">Data</th>
                <th scope="col">Purpose</th>
                <th scope="col">You spent</th>
                <th scope="col">Left to you</th>
              </tr>
            </thead>
            <tbody>
              {items.map((one) => (
                <tr key={`${one.dataset} ${one.unit} ${one.purpose}`}>
                  <th scope="row">
                    <Name iri={one.dataset} />
                  </th>
                  <td>{one.purpose ? <Name iri={one.purpose} /> : <span className="quiet">any</span>}</td>
                  <td>{amount(one.spent)}</td>
                  <td>{one.remaining ? left(one.remaining) : <span className="quiet">no limit of your own</span>}</td>
                </tr>
              ))}
            </tbody>
          </TableFrame>
        )
      }
    </Shown>
  );
}

/** An epsilon and a delta as the ledger has them, to the last decimal. */
export function amount({ epsilon, delta }: { epsilon: string; delta: string }): string {
  return delta === "0" ? `ε ${epsilon}` : `ε ${epsilon}, δ ${delta}`;
}

/** What is left, of which a delta near 1 is that nobody has limited it. */
function left(remaining: { epsilon: string; delta: string }): string {
  return Number(remaining.delta) > 0.5 ? amount({ ...remaining, delta: "0" }) : amount(remaining);
}
