import type { ReactNode } from "react";

/** A table that scrolls by itself where the window is narrow, with the keyboard too. */
export function TableFrame({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="table" role="region" aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
