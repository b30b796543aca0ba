import type { Problem } from "../api/problems";

interface Props {
  problems: readonly Problem[];
  kind?: "bad" | "hint";
  go?: (problem: Problem) => void;
  mend?: (problem: Problem) => void;
}

/** Problems with their codes and places; with `go` and `mend`, each can be shown and fixed. */
export function ProblemList({ problems, kind = "bad", go, mend }: Props) {
  return (
    <ul className={`problems ${kind}`}>
      {problems.map((problem, index) => (
        <li key={`${problem.code} ${problem.pointer} ${index}`}>
          <span className="code">{problem.code}</span>
          <div>
            <p>
              {problem.message} {problem.hint && <span className="quiet">{problem.hint}</span>}
            </p>
            <p className="problem-foot">
              <PlaceOf problem={problem} {...(go ? { go } : {})} />
              {mend && problem.fix && (
                <button type="button" className="small primary" onClick={() => mend(problem)}>
                  {fixName(problem)}
                </button>
              )}
              {problem.section && <span className="fine">{problem.section}</span>}
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}

function PlaceOf({ problem, go }: { problem: Problem; go?: (problem: Problem) => void }) {
  if (problem.line === 0) return null;
  const place = `Line ${problem.line}`;
  if (!go) return <span className="fine">{place}</span>;
  return (
    <button type="button" className="small plain" onClick={() => go(problem)}>
      {place}
    </button>
  );
}

export function fixName(problem: Problem): string {
  const text = problem.fix?.text.trim() ?? "";
  if (text === "") return "Fix: remove it";
  return text.length > 40 ? "Fix it" : `Fix: ${text}`;
}
