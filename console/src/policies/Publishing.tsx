import type { Policy } from "../api/types";
import { Refused } from "../parts/states";
import { Sheet } from "../parts/Sheet";
import type { Draft } from "./useDraft";

interface Props {
  policy: Policy;
  draft: Draft;
  publish: () => void;
  close: () => void;
}

export function Publishing({ policy, draft, publish, close }: Props) {
  return (
    <Sheet title={`Publish ${policy.name}?`} close={close}>
      <p>
        {policy.published_version == null
          ? "From then on this policy decides who may read what."
          : `It replaces version ${policy.published_version}, which stays readable. What was released under it is readable again once it is certified under the new one.`}
      </p>
      {draft.refusal && <Refused refusal={draft.refusal} />}
      <div className="actions">
        <button type="button" className="primary" onClick={publish} disabled={draft.isBusy}>
          {draft.isBusy ? "Publishing …" : "Publish"}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Sheet>
  );
}
