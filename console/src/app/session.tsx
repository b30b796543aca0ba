/** Who is signed in, and what that person's roles let them see. */

import { createContext, useContext } from "react";
import type { Me, Role } from "../api/types";

export interface Screen {
  path: string;
  name: string;
  roles: readonly Role[];
}

/** The screens that the service has something to show on. */
export const SCREENS: readonly Screen[] = [
  { path: "/policies", name: "Policy", roles: ["owner", "steward", "auditor"] },
  { path: "/data", name: "Data", roles: ["owner", "steward", "auditor"] },
  { path: "/runs", name: "Runs", roles: ["owner", "steward", "auditor"] },
  { path: "/access", name: "Access", roles: ["consumer", "owner", "steward"] },
  { path: "/releases", name: "Releases", roles: ["owner", "steward", "consumer", "auditor"] },
  { path: "/decisions", name: "Decisions", roles: ["owner", "auditor", "consumer"] },
  { path: "/people", name: "People", roles: ["administrator"] },
];

export function screensOf(me: Me): Screen[] {
  return SCREENS.filter((screen) => has(me, ...screen.roles));
}

export function has(me: Me, ...roles: Role[]): boolean {
  return roles.some((role) => me.roles.includes(role));
}

const MeContext = createContext<Me | null>(null);
export const SignedIn = MeContext.Provider;

export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === null) throw new Error("nobody is signed in");
  return me;
}
