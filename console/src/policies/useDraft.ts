/** The text that is being written, and what becomes of it: saved, in conflict, or published. */

import { useEffect, useRef, useState } from "react";
import { ask, asRefusal } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Policy, Version } from "../api/types";
import { setGuard } from "../app/router";
import { say } from "../parts/messages";
import type { Opened } from "./opened";

type Saved = Version & { text: string };

export interface Draft {
  text: string;
  setText: (text: string) => void;
  isChanged: boolean;
  isBusy: boolean;
  /** Why the last attempt was refused. */
  refusal: Refusal | null;
  /** What somebody else saved meanwhile. */
  conflict: Saved | null;
  save: () => Promise<boolean>;
  overwrite: () => Promise<boolean>;
  publish: () => Promise<boolean>;
  approve: () => Promise<boolean>;
}

export function useDraft(opened: Opened): Draft {
  const path = `/policies/${encodeURIComponent(opened.policy.id)}`;
  const [text, setText] = useState(opened.version.text);
  const [base, setBase] = useState({ text: opened.version.text, etag: opened.etag });
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [conflict, setConflict] = useState<Saved | null>(null);
  const isChanged = text !== base.text;
  useLeaving(isChanged);

  async function attempt(act: () => Promise<void>): Promise<boolean> {
    setBusy(true);
    setRefusal(null);
    try {
      await act();
      return true;
    } catch (error) {
      setRefusal(asRefusal(error));
      return false;
    } finally {
      setBusy(false);
    }
  }

  async function put(etag: string): Promise<string> {
    const answer = await ask<Version>("PUT", `${path}/draft`, { body: { text }, etag });
    setBase({ text, etag: answer.etag });
    setConflict(null);
    say(`Draft saved as version ${answer.value.number}.`);
    return answer.etag;
  }

  async function decide(verb: string, etag: string): Promise<void> {
    const { value: version } = await ask<Version>("POST", `${path}:${verb}`, { etag });
    const isProposed = version.state === "proposed";
    say(`Version ${version.number} is ${isProposed ? "proposed: another owner has to approve it" : "published"}.`);
  }

  async function look(): Promise<{ theirs: Saved; etag: string }> {
    const { value: policy, etag } = await ask<Policy>("GET", path);
    const number = Math.max(...policy.versions.map((version) => version.number));
    const theirs = (await ask<Saved>("GET", `${path}/versions/${number}`)).value;
    return { theirs, etag };
  }

  async function save(): Promise<boolean> {
    return attempt(async () => {
      try {
        await put(base.etag);
      } catch (error) {
        if (asRefusal(error).status !== 412) throw error;
        setConflict((await look()).theirs);
      }
    });
  }

  return {
    text,
    setText,
    isChanged,
    isBusy,
    refusal,
    conflict,
    save,
    overwrite: () => attempt(async () => void (await put((await look()).etag))),
    publish: () => attempt(async () => decide("publish", isChanged ? await put(base.etag) : base.etag)),
    approve: () => attempt(() => decide("approve", base.etag)),
  };
}

const QUESTION = "The draft has changes that are not saved. Leave all the same?";

function useLeaving(isChanged: boolean): void {
  const changed = useRef(isChanged);
  changed.current = isChanged;
  useEffect(() => {
    const ask = () => (changed.current ? QUESTION : "");
    const warn = (event: BeforeUnloadEvent) => {
      if (changed.current) event.preventDefault();
    };
    setGuard(ask);
    window.addEventListener("beforeunload", warn);
    return () => {
      setGuard(null);
      window.removeEventListener("beforeunload", warn);
    };
  }, []);
}
