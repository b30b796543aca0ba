import type { Role } from "../api/types";

export const ROLES: Record<Role, { name: string; about: string }> = {
  owner: { name: "Owner", about: "writes policies and publishes them" },
  steward: { name: "Steward", about: "uploads data, and plans and runs, for the owners who named them" },
  consumer: { name: "Consumer", about: "asks for access, and queries" },
  auditor: { name: "Auditor", about: "reads everything but data, and changes nothing" },
  administrator: { name: "Administrator", about: "says who has which role" },
};
