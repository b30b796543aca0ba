/** What the validator says of a text, asked again a moment after each change. */

import { useEffect, useState } from "react";
import { asRefusal, isAbort, post } from "../api/client";
import type { Problem, Refusal } from "../api/problems";
import type { Check } from "../api/types";

const PAUSE = 250;

export interface Checked {
  /** The text that the answer is about. */
  text: string | null;
  valid: boolean;
  problems: readonly Problem[];
  hints: readonly Problem[];
  refusal: Refusal | null;
}

const UNCHECKED: Checked = { text: null, valid: false, problems: [], hints: [], refusal: null };

export function useCheck(text: string): Checked {
  const [checked, setChecked] = useState<Checked>(UNCHECKED);
  useEffect(() => {
    const controller = new AbortController();
    const timer = window.setTimeout(() => {
      post<Check>("/policies:check", { text }, controller.signal)
        .then((answer) => setChecked({ text, refusal: null, ...answer }))
        .catch((error: unknown) => {
          if (!isAbort(error)) setChecked({ ...UNCHECKED, text, refusal: asRefusal(error) });
        });
    }, PAUSE);
    return () => {
      window.clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return checked;
}
