const SHORT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** A moment in the reader's own time zone. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="quiet">not yet</span>;
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return <>{at}</>;
  return (
    <time dateTime={at} title={at}>
      {SHORT.format(moment)}
    </time>
  );
}

/** A moment as text, where no element can be. */
export function writtenMoment(at: string): string {
  return SHORT.format(new Date(at));
}

/** How long something took, in words. */
export function spanOf(from: string | null | undefined, to: string | null | undefined, now: number): string {
  if (!from) return "";
  const end = to ? new Date(to).getTime() : now;
  const seconds = Math.max(0, Math.round((end - new Date(from).getTime()) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
