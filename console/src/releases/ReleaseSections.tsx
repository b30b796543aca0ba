import { Link, usePath } from "../app/router";
import { has, useMe } from "../app/session";

const SECTIONS = [
  { to: "/releases", name: "What was released" },
  { to: "/releases/budgets", name: "Budgets" },
];

/** Releases, and what they spent, for who may see both. */
export function ReleaseSections() {
  const path = usePath();
  if (!has(useMe(), "owner", "auditor")) return null;
  return (
    <nav className="sections" aria-label="Releases and budgets">
      {SECTIONS.map(({ to, name }) => (
        <Link key={to} to={to} aria-current={to === path ? "page" : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
