import { useState } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { LogIntegrity } from "../api/types";
import { Refused } from "../parts/states";

interface Props {
  path: string;
  name: "log" | "ledger";
}

/** Has the whole log verified, and says whether it is as it was written. */
export function VerifyingLog({ path, name }: Props) {
  const [found, setFound] = useState<LogIntegrity | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function verify(): Promise<void> {
    setBusy(true);
    setRefusal(null);
    setFound(null);
    try {
      setFound(await post<LogIntegrity>(path));
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
          {isBusy ? "Verifying …" : `Verify the ${name}`}
        </button>
      </div>
      {refusal && <Refused refusal={refusal} />}
      {found && <Result found={found} name={name} />}
    </div>
  );
}

function Result({ found, name }: { found: LogIntegrity; name: string }) {
  return (
    <div className={`notice ${found.intact ? "good" : "bad"}`} role="status">
      <p>
        <strong>{found.intact ? `The ${name} is as it was written.` : `The ${name} was changed.`}</strong>{" "}
        {found.entries === 1 ? "1 entry." : `${found.entries} entries.`}
      </p>
      {found.problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
      {found.head && (
        <p className="fine">
          Its head, worth keeping elsewhere: <code className="iri">{found.head}</code>
        </p>
      )}
    </div>
  );
}
