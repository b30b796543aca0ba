/** Addresses of pages, kept in the browser's history. */

import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

let guard: (() => string) | null = null;
const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => window.location.pathname);
}

export function useQuery(): URLSearchParams {
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  return new URLSearchParams(search);
}

/** Asks before this page is left, where `question` has something to ask. */
export function setGuard(question: (() => string) | null): void {
  guard = question;
}

export function navigate(to: string, how: "push" | "replace" = "push"): void {
  const question = guard?.() ?? "";
  if (question !== "" && !window.confirm(question)) return;
  guard = null;
  if (how === "push") window.history.pushState(null, "", to);
  else window.history.replaceState(null, "", to);
  tell();
}

/** Changes what the address says of this page, without leaving it. */
export function setQuery(query: Record<string, string>): void {
  const set = Object.entries(query).filter(([, value]) => value !== "");
  const search = new URLSearchParams(set).toString();
  window.history.replaceState(null, "", window.location.pathname + (search ? `?${search}` : ""));
  tell();
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string;
}

export function Link({ to, ...rest }: LinkProps) {
  function follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  }
  return <a href={to} onClick={follow} {...rest} />;
}
