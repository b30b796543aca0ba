import { useState } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Measurement, ReleaseVerdict } from "../api/types";
import { ProblemList } from "../parts/ProblemList";
import { Refused } from "../parts/states";
import { Measurements } from "./Measurements";

/** Has a release measured anew, and says whether it holds what its policy asks for. */
export function VerifyingRelease({ path }: { path: string }) {
  const [verdict, setVerdict] = useState<ReleaseVerdict | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function verify(): Promise<void> {
    setBusy(true);
    setRefusal(null);
    setVerdict(null);
    try {
      setVerdict(await post<ReleaseVerdict>(`${path}:verify`));
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section className="panel">
      <h2>Verify it</h2>
      <p className="quiet">What lies there is compared with its certificate, and measured anew.</p>
      <div className="actions">
        <button type="button" onClick={() => void verify()} disabled={isBusy}>
          {isBusy ? "Measuring …" : "Verify the release"}
        </button>
      </div>
      {verdict && <Verdict verdict={verdict} />}
      {refusal && <Refused refusal={refusal} />}
    </section>
  );
}

function Verdict({ verdict }: { verdict: ReleaseVerdict }) {
  const measured = verdict.measured as unknown as Measurement[];
  const problems = verdict.problems ?? [];
  return (
    <div className={`notice ${verdict.holds ? "good" : "bad"}`} role="status">
      <p>
        <strong>
          {verdict.holds ? "It is as it was certified, and holds what its policy asks for." : "It does not hold."}
        </strong>{" "}
        {verdict.note}
      </p>
      {problems.length > 0 && <ProblemList problems={problems} />}
      {measured.length > 0 && <Measurements label="Measured anew" measurements={measured} />}
    </div>
  );
}
