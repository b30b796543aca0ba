/** What a page shows while it has nothing to show yet, or nothing at all. */

import type { ReactNode } from "react";
import type { Refusal } from "../api/problems";
import type { Loaded } from "../api/loading";
import { ProblemList } from "./ProblemList";

export function Busy({ what }: { what: string }) {
  return (
    <div className="busy" role="status">
      <span className="busy-bars" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {what} …
    </div>
  );
}

export function ErrorText({ children }: { children: ReactNode }) {
  return (
    <p className="notice bad" role="alert">
      {children}
    </p>
  );
}

/** A refusal as the service words it: what is wrong, how to mend it, its code. */
export function Refused({ refusal, retry, children }: { refusal: Refusal; retry?: () => void; children?: ReactNode }) {
  const others = refusal.problems.slice(1);
  return (
    <div className="notice bad" role="alert">
      <p>
        <strong>{refusal.message}</strong> {refusal.hint}
      </p>
      {others.length > 0 && <ProblemList problems={others} />}
      {children}
      <p className="fine">
        {refusal.code !== "" && <>Code {refusal.code}. </>}
        {refusal.request !== "" && <>In the log as {refusal.request}. </>}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface ShownProps<T> {
  loaded: Loaded<T>;
  what: string;
  retry: () => void;
  children: (value: T) => ReactNode;
}

/** What was loaded, or that it is on its way, or why it was refused. */
export function Shown<T>({ loaded, what, retry, children }: ShownProps<T>) {
  if (loaded.state === "loading") return <Busy what={`Loading ${what}`} />;
  if (loaded.state === "refused") return <Refused refusal={loaded.refusal} retry={retry} />;
  return children(loaded.value);
}
