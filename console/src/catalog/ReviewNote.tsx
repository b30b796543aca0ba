import { useEffect, type FormEvent } from "react";
import type { QueryAnswer } from "../api/types";
import { Link } from "../app/router";
import { noteSent } from "../reviews/unseen";

interface Props {
  answer: QueryAnswer;
  isBusy: boolean;
  ask: (exception: string) => void;
}

/** What of an answer a person decides about: that it was sent, or how to ask for that. */
export function ReviewNote({ answer, isBusy, ask }: Props) {
  useEffect(() => {
    if (answer.review) noteSent();
  }, [answer.review]);
  if (answer.review) {
    return (
      <p className="notice" role="status">
        <strong>Sent for review.</strong> The owner of the data decides about what is left out.{" "}
        <Link to={`/releases/reviews/${encodeURIComponent(answer.review)}`}>See where it stands</Link>
      </p>
    );
  }
  if (!answer.may_be_asked) return null;

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    ask(String(new FormData(event.currentTarget).get("exception")).trim());
  }

  return (
    <details>
      <summary>Ask to have it reviewed</summary>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Why what is left out may be known</span>
          <input name="exception" required maxLength={2000} autoComplete="off" />
        </label>
        <p className="fine">Figures of too few persons are let out by nobody.</p>
        <div className="actions">
          <button type="submit" disabled={isBusy}>
            Send for review
          </button>
        </div>
      </form>
    </details>
  );
}
