import { Link, usePath } from "../app/router";
import { has, useMe } from "../app/session";

/** The two halves of the screen: what was released, and who asked for it. */
export function Sections() {
  const path = usePath();
  const seesDecisions = has(useMe(), "owner", "auditor", "consumer");
  return (
    <nav className="sections" aria-label="Releases and decisions">
      <Link to="/releases" aria-current={path === "/releases" ? "page" : undefined}>
        Releases
      </Link>
      {seesDecisions && (
        <Link to="/releases/decisions" aria-current={path === "/releases/decisions" ? "page" : undefined}>
          Decisions
        </Link>
      )}
    </nav>
  );
}
