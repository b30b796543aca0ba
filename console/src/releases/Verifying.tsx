import { useState } from "react";
import { asRefusal, post } from "../api/client";
import type { Problem, Refusal } from "../api/problems";
import { ProblemList } from "../parts/ProblemList";
import { Refused } from "../parts/states";

interface Verdict {
  valid?: boolean;
  intact?: boolean;
  problems?: Problem[];
  head?: string;
  entries?: number;
}

/** Has something measured or computed again, and says whether it is as it was. */
export function Verifying({ path, what }: { path: string; what: string }) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function verify(): Promise<void> {
    setBusy(true);
    setRefusal(null);
    setVerdict(null);
    try {
      setVerdict(await post<Verdict>(path));
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className="stack verifying">
      <div className="actions">
        <button type="button" onClick={() => void verify()} disabled={isBusy}>
          {isBusy ? "Verifying …" : `Verify ${what}`}
        </button>
      </div>
      {verdict && <Result verdict={verdict} what={what} />}
      {refusal && <Refused refusal={refusal} />}
    </div>
  );
}

function Result({ verdict, what }: { verdict: Verdict; what: string }) {
  const problems = verdict.problems ?? [];
  const isGood = (verdict.valid ?? verdict.intact ?? true) && problems.length === 0;
  return (
    <div className={`notice ${isGood ? "good" : "bad"}`} role="status">
      <p>
        <strong>{isGood ? `Verified: ${what} is as it was certified.` : `${what} does not verify.`}</strong>{" "}
        {verdict.entries !== undefined && <>{verdict.entries} entries.</>}
      </p>
      {verdict.head && (
        <p className="fine">
          Head <code>{verdict.head}</code>
        </p>
      )}
      {problems.length > 0 && <ProblemList problems={problems} />}
    </div>
  );
}
