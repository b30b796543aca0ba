import type { Role } from "../api/types";
import { Link, usePath } from "../app/router";
import { has, useMe } from "../app/session";
import { UnseenBadge } from "../reviews/unseen";

const SECTIONS: readonly { to: string; name: string; roles: readonly Role[] }[] = [
  { to: "/releases", name: "What was released", roles: ["owner", "steward", "consumer", "auditor"] },
  { to: "/releases/reviews", name: "Reviews", roles: ["owner", "steward", "consumer", "auditor"] },
  { to: "/releases/budgets", name: "Budgets", roles: ["owner", "auditor"] },
];

/** Releases, what people decide about, and what was spent, for who may see them. */
export function ReleaseSections() {
  const path = usePath();
  const me = useMe();
  return (
    <nav className="sections" aria-label="Releases, reviews and budgets">
      {SECTIONS.filter(({ roles }) => has(me, ...roles)).map(({ to, name }) => (
        <Link key={to} to={to} aria-current={to === path ? "page" : undefined}>
          {name}
          {to === "/releases/reviews" && <UnseenBadge />}
        </Link>
      ))}
    </nav>
  );
}
