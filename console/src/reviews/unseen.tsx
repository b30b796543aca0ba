/** How many reviews of the reader were decided that they have not looked at. */

import { createContext, useContext, useEffect, useRef, type ReactNode } from "react";
import { post } from "../api/client";
import { useGet } from "../api/loading";
import type { UnseenReviews } from "../api/types";

const MINUTE = 60_000;
const SEEN = "review-seen";
const Count = createContext(0);

/**
 * Counts them for the pages within: whenever one is opened and, while any review of the reader waits
 * to be decided, each minute in which a page is looked at.
 */
export function UnseenCounting({ path, children }: { path: string; children: ReactNode }) {
  const { loaded, reload } = useGet<UnseenReviews>("/reviews:unseen");
  const opened = useRef(path);
  useEffect(() => {
    if (opened.current !== path) reload();
    opened.current = path;
  }, [path, reload]);
  useEffect(() => {
    window.addEventListener(SEEN, reload);
    return () => window.removeEventListener(SEEN, reload);
  }, [reload]);
  const waits = loaded.state === "ready" && loaded.value.waiting > 0;
  useEffect(() => {
    if (!waits) return;
    function look(): void {
      if (document.visibilityState === "visible") reload();
    }
    const timer = window.setInterval(look, MINUTE);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [reload, waits]);
  return <Count.Provider value={loaded.state === "ready" ? loaded.value.count : 0}>{children}</Count.Provider>;
}

/** The number beside a link to them; nothing where there is none. */
export function UnseenBadge() {
  const count = useContext(Count);
  if (count === 0) return null;
  const words = count === 1 ? "one of your reviews was decided" : `${count} of your reviews were decided`;
  return (
    <>
      {" "}
      <span className="badge live" role="img" aria-label={words} title={words}>
        {count}
      </span>
    </>
  );
}

/** Says that the reader has looked at a review of theirs. */
export async function noteSeen(path: string): Promise<void> {
  try {
    await post(`${path}:see`);
    window.dispatchEvent(new Event(SEEN));
  } catch {
    // It stays news until the service answers.
  }
}

/** Says that something was sent for review, so that its decision is waited for. */
export function noteSent(): void {
  window.dispatchEvent(new Event(SEEN));
}
