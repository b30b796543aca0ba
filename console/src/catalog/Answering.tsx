import { useState, type FormEvent } from "react";
import { ask, asRefusal } from "../api/client";
import type { Refusal } from "../api/problems";
import type { AccessRequest } from "../api/types";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused } from "../parts/states";

export type Verb = "grant" | "reject" | "revoke";

const WORDS: Record<Verb, { button: string; about: string; done: string }> = {
  grant: {
    button: "Grant",
    about: "A policy that says so is in force from now on, until the moment that was asked for.",
    done: "Access is granted.",
  },
  reject: { button: "Reject", about: "Nothing changes in what may be read.", done: "The request is rejected." },
  revoke: {
    button: "Revoke",
    about: "The policy by which access was granted is no longer in force. What was read cannot be called back.",
    done: "Access is revoked.",
  },
};

interface Props {
  request: AccessRequest;
  verb: Verb;
  close: () => void;
  done: () => void;
}

/** Answers a request for access, with a note for who asked. */
export function Answering({ request, verb, close, done }: Props) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const words = WORDS[verb];

  async function answer(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const note = String(new FormData(event.currentTarget).get("note")).trim();
    const path = `/access-requests/${encodeURIComponent(request.id)}:${verb}`;
    try {
      await ask<AccessRequest>("POST", path, { body: { note }, etag: `"${request.revision}"` });
      say(words.done);
      done();
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  return (
    <Sheet title={`${words.button} access?`} close={close}>
      <form className="stack" onSubmit={(event) => void answer(event)}>
        <p>
          <span className="iri">{request.assignee}</span> asks to read{" "}
          <span className="iri">{request.targets.join(", ")}</span>
          {request.purpose && <> for {request.purpose}</>}. {words.about}
        </p>
        <label className="field">
          <span>Note for who asked</span>
          <input name="note" maxLength={2000} autoComplete="off" />
        </label>
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          <button type="submit" className={verb === "revoke" ? "danger" : "primary"}>
            {words.button}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Sheet>
  );
}
