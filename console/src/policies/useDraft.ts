/** The text that is being written, and what becomes of it: saved, in conflict, or published. */

import { useEffect, useRef, useState } from "react";
import { ask, asRefusal, type Answer } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Policy, VersionText } from "../api/types";
import { setGuard } from "../app/router";
import { say } from "../parts/messages";
import type { Opened } from "./opened";

export interface Draft {
  /** The policy and its version as they were last loaded or saved. */
  opened: Opened;
  text: string;
  setText: (text: string) => void;
  isChanged: boolean;
  isBusy: boolean;
  /** Why the last attempt was refused. */
  refusal: Refusal | null;
  /** What somebody else saved meanwhile. */
  conflict: VersionText | null;
  save: () => Promise<boolean>;
  overwrite: () => Promise<boolean>;
  publish: () => Promise<boolean>;
  approve: () => Promise<boolean>;
}

export function useDraft(first: Opened): Draft {
  const path = `/policies/${encodeURIComponent(first.policy.id)}`;
  const [opened, setOpened] = useState(first);
  const [text, setText] = useState(first.version.text);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [conflict, setConflict] = useState<VersionText | null>(null);
  const isChanged = text !== opened.version.text;
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

  /** Takes over what was saved; the versions of the policy are listed anew. */
  async function take({ value: version, etag }: Answer<VersionText>): Promise<void> {
    const { value: policy } = await ask<Policy>("GET", path);
    setOpened({ policy, version, etag });
  }

  async function put(etag: string): Promise<string> {
    const answer = await ask<VersionText>("PUT", `${path}/draft`, { body: { text }, etag });
    await take(answer);
    setConflict(null);
    say(`Draft saved as version ${answer.value.number}.`);
    return answer.etag;
  }

  async function decide(verb: string, etag: string): Promise<void> {
    const answer = await ask<VersionText>("POST", `${path}:${verb}`, { etag });
    await take(answer);
    const { number, state } = answer.value;
    const result = state === "proposed" ? "proposed: another owner has to approve it" : "published";
    say(`Version ${number} is ${result}.`);
  }

  async function look(): Promise<{ theirs: VersionText; etag: string }> {
    const { value: policy, etag } = await ask<Policy>("GET", path);
    const number = Math.max(...policy.versions.map((version) => version.number));
    const theirs = (await ask<VersionText>("GET", `${path}/versions/${number}`)).value;
    return { theirs, etag };
  }

  async function save(): Promise<boolean> {
    return attempt(async () => {
      try {
        await put(opened.etag);
      } catch (error) {
        if (asRefusal(error).status !== 412) throw error;
        setConflict((await look()).theirs);
      }
    });
  }

  return {
    opened,
    text,
    setText,
    isChanged,
    isBusy,
    refusal,
    conflict,
    save,
    overwrite: () => attempt(async () => void (await put((await look()).etag))),
    publish: () => attempt(async () => decide("publish", isChanged ? await put(opened.etag) : opened.etag)),
    approve: () => attempt(() => decide("approve", opened.etag)),
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
