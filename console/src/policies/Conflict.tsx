import type { Version } from "../api/types";
import { Time } from "../parts/Time";
import type { Draft } from "./useDraft";

interface Props {
  draft: Draft;
  theirs: Version;
  reload: () => void;
}

/** Somebody else saved the draft meanwhile: neither text is lost until one is chosen. */
export function Conflict({ draft, theirs, reload }: Props) {
  return (
    <div className="notice warn" role="alert">
      <p>
        <strong>Somebody else changed this policy while you wrote.</strong> Version {theirs.number} was saved{" "}
        <Time at={theirs.created} />. Your text is still here and was not saved.
      </p>
      <div className="actions">
        <button type="button" onClick={() => void draft.overwrite()} disabled={draft.isBusy}>
          Save mine over it
        </button>
        <button type="button" onClick={reload} disabled={draft.isBusy}>
          Discard mine and show theirs
        </button>
      </div>
    </div>
  );
}
