import { useState } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Run } from "../api/types";
import { has, useMe } from "../app/session";
import { say } from "../parts/messages";
import { kindName } from "./kinds";

interface Props {
  run: Run;
  changed: (run: Run) => void;
  refused: (refusal: Refusal) => void;
}

/** What can be done with a run by whom may: end it, or try it once more. */
export function RunActions({ run, changed, refused }: Props) {
  const [isBusy, setBusy] = useState(false);
  const mayAct = has(useMe(), "steward");
  const canCancel = run.state === "queued" || run.state === "running";
  const canRetry = run.state === "failed" || run.state === "cancelled";

  async function act(verb: "cancel" | "retry"): Promise<void> {
    setBusy(true);
    try {
      changed(await post<Run>(`/runs/${encodeURIComponent(run.id)}:${verb}`));
      say(verb === "cancel" ? "The run is being cancelled." : "The run is queued again.");
    } catch (error) {
      refused(asRefusal(error));
    } finally {
      setBusy(false);
    }
  }

  if (!mayAct || !(canCancel || canRetry)) return null;
  const verb = canCancel ? "cancel" : "retry";
  return (
    <button
      type="button"
      className="small"
      disabled={isBusy}
      aria-label={`${verb === "cancel" ? "Cancel" : "Retry"}: ${kindName(run.kind)}`}
      onClick={() => void act(verb)}
    >
      {verb === "cancel" ? "Cancel" : "Retry"}
    </button>
  );
}
