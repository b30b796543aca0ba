import { lazy, Suspense, useRef, useState } from "react";
import type { Problem } from "../api/problems";
import { has, useMe } from "../app/session";
import { Busy, Refused } from "../parts/states";
import { Withdrawing } from "../parts/Withdrawing";
import { Conflict } from "./Conflict";
import { Converting } from "./Converting";
import { Editor, type EditorHandle } from "./editor/Editor";
import { Diagnostics } from "./Diagnostics";
import { latestOf, type Opened } from "./opened";
import { PolicyHead } from "./PolicyHead";
import { Publishing } from "./Publishing";
import { Meaning } from "./Meaning";
import { useCheck, type Checked } from "./useCheck";
import { useDraft } from "./useDraft";
import { useExplanation } from "./useExplanation";
import { WhatIf } from "./WhatIf";

const Changes = lazy(() => import("./Changes"));

interface Props {
  opened: Opened;
  reload: () => void;
  show: (version: number) => void;
}

/** A policy at work: its text on the left, what it means on the right. */
export function Workbench({ opened, reload, show }: Props) {
  const draft = useDraft(opened);
  const { policy, version } = draft.opened;
  const isLatest = version.number === latestOf(policy).number;
  const mayWrite = has(useMe(), "owner") && isLatest && version.state !== "proposed";
  const editor = useRef<EditorHandle>(null);
  const checked = useCheck(draft.text);
  const valid = useLastValid(checked);
  const explained = useExplanation(valid);
  const [isPublishing, setPublishing] = useState(false);
  const [isWithdrawing, setWithdrawing] = useState(false);
  const isCurrent = checked.text === draft.text;
  const mend = (problem: Problem) => {
    if (isCurrent) editor.current?.mend(problem);
  };

  async function save(): Promise<void> {
    if (mayWrite && draft.isChanged) await draft.save();
  }

  async function publish(): Promise<void> {
    if (await draft.publish()) setPublishing(false);
  }

  return (
    <>
      <PolicyHead
        mayWrite={mayWrite}
        draft={draft}
        isValid={isCurrent && checked.valid}
        show={show}
        save={() => void save()}
        publish={() => setPublishing(true)}
        approve={() => void draft.approve()}
        withdraw={() => setWithdrawing(true)}
      />
      {draft.conflict && <Conflict draft={draft} theirs={draft.conflict} reload={reload} />}
      {draft.refusal && !isPublishing && <Refused refusal={draft.refusal} />}
      <div className="workbench">
        <div className="stack">
          <Editor
            ref={editor}
            label={`Text of the policy ${policy.name}`}
            text={opened.version.text}
            readOnly={!mayWrite}
            problems={checked.problems}
            hints={checked.hints}
            onChange={draft.setText}
            onSave={() => void save()}
          />
          <Diagnostics
            checked={checked}
            isCurrent={isCurrent}
            go={(problem) => editor.current?.go(problem)}
            {...(mayWrite ? { mend } : {})}
          />
        </div>
        <Meaning explained={explained} isCurrent={explained.text === draft.text} />
        <div className="stack">
          <WhatIf
            valid={valid}
            matrix={explained.explanation?.matrix}
            isCurrent={valid === draft.text}
          />
          <Suspense fallback={<Busy what="Loading the comparison" />}>
            <Changes policy={policy} version={version.number} text={draft.text} isSaved={!draft.isChanged} />
          </Suspense>
          <Converting text={draft.text} />
        </div>
      </div>
      {isWithdrawing && (
        <Withdrawing
          path={`/policies/${encodeURIComponent(policy.id)}`}
          title={`Withdraw ${policy.name}?`}
          meaning="From then on no version of it is in force. What only this policy permits is denied, and what only this policy prohibits may be permitted by others. Its versions can still be read, and a new draft can be published later."
          result="The policy is withdrawn."
          close={() => setWithdrawing(false)}
          done={() => {
            setWithdrawing(false);
            reload();
          }}
        />
      )}
      {isPublishing && (
        <Publishing
          policy={policy}
          draft={draft}
          publish={() => void publish()}
          close={() => setPublishing(false)}
        />
      )}
    </>
  );
}

/** The last text without errors: what it means stays visible while the next one is written. */
function useLastValid(checked: Checked): string | null {
  const last = useRef<string | null>(null);
  if (checked.valid) last.current = checked.text;
  return last.current;
}
