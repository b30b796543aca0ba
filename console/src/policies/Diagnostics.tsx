import type { Problem } from "../api/problems";
import { ProblemList } from "../parts/ProblemList";
import { Refused } from "../parts/states";
import type { Checked } from "./useCheck";

interface Props {
  checked: Checked;
  isCurrent: boolean;
  go: (problem: Problem) => void;
  mend?: (problem: Problem) => void;
}

/** What the validator says of the text, in words below it. */
export function Diagnostics({ checked, isCurrent, go, mend }: Props) {
  const fixing = mend ? { mend } : {};
  return (
    <section className="panel" aria-label="Problems">
      <p className="verdict" role="status">
        {verdict(checked)} {!isCurrent && checked.text !== null && <span className="quiet">Checking …</span>}
      </p>
      {checked.refusal && <Refused refusal={checked.refusal} />}
      {checked.problems.length > 0 && <ProblemList problems={checked.problems} go={go} {...fixing} />}
      {checked.hints.length > 0 && (
        <>
          <h3>Hints</h3>
          <ProblemList problems={checked.hints} kind="hint" go={go} {...fixing} />
        </>
      )}
    </section>
  );
}

function verdict(checked: Checked): string {
  if (checked.refusal) return "The text could not be checked.";
  if (checked.text === null) return "Checking …";
  if (checked.valid) return "✓ The policy is valid.";
  const count = checked.problems.length;
  return `✗ ${count} ${count === 1 ? "problem" : "problems"}. Publishing is possible once there are none.`;
}
