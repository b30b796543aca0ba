import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Release } from "../api/types";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused } from "../parts/states";

interface Props {
  path: string;
  close: () => void;
  done: () => void;
}

/** Asks why a release is withdrawn, and withdraws it. */
export function Withdrawing({ path, close, done }: Props) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  async function withdraw(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget).get("reason")).trim();
    try {
      await post<Release>(`${path}:withdraw`, { reason });
      say("The release is withdrawn.");
      done();
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }
  return (
    <Sheet title="Withdraw this release?" close={close}>
      <form className="stack" onSubmit={(event) => void withdraw(event)}>
        <p>From then on nobody may read it. What was read already cannot be called back.</p>
        <label className="field">
          <span>Reason</span>
          <input name="reason" required maxLength={2000} autoComplete="off" />
        </label>
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          <button type="submit" className="danger">
            Withdraw
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Sheet>
  );
}
