import { useGet } from "../api/loading";
import type { Budget, Budgets } from "../api/types";
import { Head } from "../parts/Head";
import { Name } from "../parts/Name";
import { Empty, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";
import { ReleaseSections } from "./ReleaseSections";
import { VerifyingLog } from "./VerifyingLog";

/** What releases under differential privacy spent of each dataset, by whom, and what is left. */
export default function BudgetList() {
  const { loaded, reload } = useGet<Budgets>("/budgets");
  return (
    <>
      <Head
        title="Budgets"
        about="Statistics under differential privacy each tell a little of persons. What was told of a dataset adds up, and policies say how much that may be."
      />
      <ReleaseSections />
      <Shown loaded={loaded} what="budgets" retry={reload}>
        {(budgets) =>
          budgets.items.length === 0 ? (
            <NoBudget />
          ) : (
            <div className="stack">
              <VerifyingLog path="/budgets:verify" name="ledger" />
              {budgets.items.map((budget) => (
                <OneBudget key={budget.dataset} budget={budget} />
              ))}
            </div>
          )
        }
      </Shown>
    </>
  );
}

function NoBudget() {
  return (
    <Empty title="Nothing was spent yet">
      <p>
        Once a run releases statistics under differential privacy, what that spent of its dataset is listed here. Owners
        see the budgets of their own data, auditors those of all.
      </p>
    </Empty>
  );
}

function OneBudget({ budget }: { budget: Budget }) {
  return (
    <section className="panel">
      <h2 className="iri">{budget.dataset}</h2>
      {budget.accounts.length === 0 ? <p className="quiet">Nothing was spent of it.</p> : <Accounts budget={budget} />}
      {budget.uncovered.length > 0 && (
        <p className="notice warn">
          These releases were not made under differential privacy, so no epsilon says what they tell:{" "}
          {budget.uncovered.join(", ")}.
        </p>
      )}
      {budget.spending.length > 0 && (
        <details>
          <summary>What was spent, release by release</summary>
          <Spending budget={budget} />
        </details>
      )}
    </section>
  );
}

function Accounts({ budget }: { budget: Budget }) {
  return (
    <TableFrame label={`Accounts of ${budget.dataset}`}>
      <thead>
        <tr>
          <th scope="col">Who</th>
          <th scope="col">Purpose</th>
          <th scope="col">Protects</th>
          <th scope="col">Spent</th>
          <th scope="col">Left</th>
          <th scope="col">At most</th>
        </tr>
      </thead>
      <tbody>
        {budget.accounts.map((account) => (
          <tr key={`${account.assignee} ${account.purpose} ${account.unit}`}>
            <th scope="row">{account.assignee ? <Name iri={account.assignee} /> : "All who ask"}</th>
            <td>{account.purpose ? <Name iri={account.purpose} /> : <span className="quiet">any</span>}</td>
            <td>{account.unit}</td>
            <td>
              <AmountText amount={account.spent} />
              <Reserved amount={account.reserved} />
              <Meter account={account} />
            </td>
            <td>{account.remaining ? <AmountText amount={account.remaining} /> : <span className="quiet">no limit</span>}</td>
            <td>
              <Caps account={account} />
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

type Account = Budget["accounts"][number];
type Amount = Account["spent"];

/** An amount as the ledger has it, to the last decimal. */
function AmountText({ amount }: { amount: Amount }) {
  return (
    <>
      ε {amount.epsilon}
      {amount.delta !== "0" && <span className="fine"> δ {amount.delta}</span>}
    </>
  );
}

function Reserved({ amount }: { amount: Amount }) {
  if (amount.epsilon === "0" && amount.delta === "0") return null;
  return (
    <p className="fine">
      <AmountText amount={amount} /> is kept for runs that go on
    </p>
  );
}

/** How much of the least cap is spent, where there is one. */
function Meter({ account }: { account: Account }) {
  const left = account.remaining ? Number(account.remaining.epsilon) : null;
  const spent = Number(account.spent.epsilon) + Number(account.reserved.epsilon);
  if (left === null || !(left + spent > 0)) return null;
  const who = account.assignee || "all who ask";
  return <progress aria-label={`Spent by ${who}`} value={spent} max={left + spent} />;
}

function Caps({ account }: { account: Account }) {
  if (account.caps.length === 0) return <span className="quiet">no limit</span>;
  return (
    <ul className="plain">
      {account.caps.map((cap, index) => (
        <li key={index}>
          <AmountText amount={cap} />
          {cap.renewal && <> within each {cap.renewal}</>}
          {cap.lifetime && (
            <>
              , <AmountText amount={cap.lifetime} /> in all
            </>
          )}
          {cap.set_by && (
            <span className="fine">
              {" "}
              by <Name iri={cap.set_by} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

const STATES: Record<string, string> = {
  reserved: "kept for it",
  spent: "spent",
  kept: "spent, and answered",
  lost: "spent, without an answer",
};

function Spending({ budget }: { budget: Budget }) {
  return (
    <TableFrame label={`What was spent of ${budget.dataset}`}>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Release</th>
          <th scope="col">For whom</th>
          <th scope="col">Spent</th>
          <th scope="col">Asked</th>
        </tr>
      </thead>
      <tbody>
        {budget.spending.map((one) => (
          <tr key={one.number}>
            <td className="nowrap">
              <Time at={one.at} />
            </td>
            <th scope="row">
              <Name iri={one.release} />
            </th>
            <td>
              <ForWhom names={one.assignees} none="all who ask" />
              <p className="fine">
                <ForWhom names={one.purposes} none="any purpose" />
              </p>
            </td>
            <td>
              <AmountText amount={one} />
              <p className="fine">{STATES[one.state] ?? one.state}</p>
            </td>
            <td className="wide">{one.asked}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function ForWhom({ names, none }: { names: readonly string[]; none: string }) {
  if (names.length === 0) return <>{none}</>;
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && ", "}
      <Name iri={name} />
    </span>
  ));
}
