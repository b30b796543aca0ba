import type { Run } from "../api/types";

/** How far a run is: its stage, and the part of it that is done where that is known. */
export function Progress({ run }: { run: Run }) {
  if (run.state !== "running" && run.state !== "cancelling") {
    return <span className="quiet">{wordsOf(run)}</span>;
  }
  const label = run.stage || "starting";
  return (
    <span className="progress">
      <progress aria-label={label} {...(run.total > 0 ? { value: run.done, max: run.total } : {})} />
      <span className="fine">
        {label}
        {run.total > 0 && ` ${Math.floor((100 * run.done) / run.total)} %`}
      </span>
    </span>
  );
}

function wordsOf(run: Run): string {
  if (run.state === "queued") return "waits for a free place";
  return run.state === "succeeded" || run.stage === "" ? "" : `ended while ${run.stage}`;
}
