import { useState, type FormEvent } from "react";
import { ask, asRefusal } from "../api/client";
import type { Refusal } from "../api/problems";
import type { ReviewDetail, ReviewedOutput } from "../api/types";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused } from "../parts/states";

export type Verdict = "accept" | "reject";

const WORDS: Record<Verdict, { button: string; about: string; done: string }> = {
  accept: {
    button: "Accept",
    about:
      "It leaves as the evidence shows it. An answer is computed again and counted among all that was answered; if it would tell with these what is withheld, it is refused.",
    done: "The output is accepted.",
  },
  reject: { button: "Reject", about: "It never leaves. Who asked reads the reason.", done: "The output is rejected." },
};

interface Props {
  path: string;
  etag: string;
  output: ReviewedOutput;
  verdict: Verdict;
  close: () => void;
}

/** Asks for the reason, and lets an output leave or not. */
export function Deciding({ path, etag, output, verdict, close }: Props) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const words = WORDS[verdict];

  async function decide(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget).get("reason")).trim();
    setBusy(true);
    try {
      await ask<ReviewDetail>("POST", `${path}:${verdict}`, { body: { output: output.name, reason }, etag });
      say(words.done);
      close();
    } catch (error) {
      setRefusal(asRefusal(error));
    }
    setBusy(false);
  }

  return (
    <Sheet title={`${words.button} this output?`} close={close}>
      <form className="stack" onSubmit={(event) => void decide(event)}>
        <p>{words.about}</p>
        <label className="field">
          <span>Reason, for who asked</span>
          <input name="reason" required maxLength={2000} autoComplete="off" />
        </label>
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          {!refusal && (
            <button type="submit" className={verdict === "reject" ? "danger" : "primary"} disabled={isBusy}>
              {isBusy ? "Deciding …" : words.button}
            </button>
          )}
          <button type="button" onClick={close}>
            {refusal ? "Close" : "Cancel"}
          </button>
        </div>
      </form>
    </Sheet>
  );
}
