import type { Decision } from "../api/types";
import { Badge } from "./Badge";
import { Name } from "./Name";

/** A decision: permit or deny, why, and what is still owed. */
export function DecisionView({ decision }: { decision: Decision }) {
  const isPermit = decision.effect === "permit";
  return (
    <div className={`notice ${isPermit ? "good" : "bad"}`} role="status">
      <p>
        <Badge tone={isPermit ? "good" : "bad"}>{isPermit ? "Permit" : "Deny"}</Badge> {decision.reason}
      </p>
      {decision.duties.length > 0 && (
        <div>
          <h3>Still owed</h3>
          <ul className="bullets">
            {decision.duties.map((duty, index) => (
              <li key={index}>
                {duty.actions.map((action) => (
                  <Name key={action} iri={action} />
                ))}
                {duty.by.length > 0 && <> by {duty.by.join(", ")}</>} ({duty.state})
              </li>
            ))}
          </ul>
        </div>
      )}
      {decision.derivation.length > 0 && (
        <details>
          <summary>How it was derived</summary>
          <ol className="steps">
            {decision.derivation.map((step, index) => (
              <li key={index}>{step}</li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}
