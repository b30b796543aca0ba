import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import { say } from "./messages";
import { Sheet } from "./Sheet";
import { Refused } from "./states";

interface Props {
  path: string;
  title: string;
  /** What withdrawing it means. */
  meaning: string;
  /** What is said once it is done. */
  result: string;
  close: () => void;
  done: () => void;
}

/** Asks why a release or a policy is withdrawn, and withdraws it. */
export function Withdrawing({ path, title, meaning, result, close, done }: Props) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  async function withdraw(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget).get("reason")).trim();
    try {
      await post(`${path}:withdraw`, { reason });
      say(result);
      done();
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }
  return (
    <Sheet title={title} close={close}>
      <form className="stack" onSubmit={(event) => void withdraw(event)}>
        <p>{meaning}</p>
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
