/** What is loaded for a page: on its way, there, or refused. */

import { useCallback, useEffect, useState } from "react";
import { asRefusal, get, isAbort } from "./client";
import type { Refusal } from "./problems";

export type Loaded<T> =
  | { state: "loading" }
  | { state: "refused"; refusal: Refusal }
  | { state: "ready"; value: T };

export interface Loading<T> {
  loaded: Loaded<T>;
  reload: () => void;
  replace: (change: (value: T) => T) => void;
}

/** Loads what `load` promises, again whenever `key` changes; what was shown stays until then. */
export function useLoading<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loading<T> {
  const [held, setHeld] = useState<{ key: string; loaded: Loaded<T> }>({ key, loaded: { state: "loading" } });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    load(controller.signal)
      .then((value) => setHeld({ key, loaded: { state: "ready", value } }))
      .catch((error: unknown) => {
        if (isAbort(error)) return;
        setHeld({ key, loaded: { state: "refused", refusal: asRefusal(error) } });
      });
    return () => controller.abort();
    // `load` is made anew by every render; `key` says when it means something else.
  }, [key, round]);
  const reload = useCallback(() => setRound((one) => one + 1), []);
  const replace = useCallback((change: (value: T) => T) => {
    setHeld((one) =>
      one.loaded.state === "ready"
        ? { key: one.key, loaded: { state: "ready", value: change(one.loaded.value) } }
        : one,
    );
  }, []);
  return { loaded: held.key === key ? held.loaded : { state: "loading" }, reload, replace };
}

export function useGet<T>(path: string): Loading<T> {
  return useLoading<T>(path, (signal) => get<T>(path, signal));
}
