/** What a policy means in words, for the last text that had no errors. */

import { useEffect, useState } from "react";
import { asRefusal, isAbort, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Explanation } from "../api/types";

export interface Explained {
  text: string | null;
  explanation: Explanation | null;
  refusal: Refusal | null;
}

export function useExplanation(valid: string | null): Explained {
  const [explained, setExplained] = useState<Explained>({ text: null, explanation: null, refusal: null });
  useEffect(() => {
    if (valid === null) return;
    const controller = new AbortController();
    post<Explanation>("/policies:explain", { text: valid }, controller.signal)
      .then((explanation) => setExplained({ text: valid, explanation, refusal: null }))
      .catch((error: unknown) => {
        if (isAbort(error)) return;
        setExplained({ text: valid, explanation: null, refusal: asRefusal(error) });
      });
    return () => controller.abort();
  }, [valid]);
  return explained;
}
