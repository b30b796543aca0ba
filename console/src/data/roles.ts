/** What a column may be, as policies call it, and what becomes of it. */

export const ROLES: Record<string, string> = {
  identifier: "Identifier: never released",
  "quasi-identifier": "Quasi-identifier: made coarser until rows look alike",
  sensitive: "Sensitive: released as it is, kept diverse",
  insensitive: "Harmless: released as it is",
};
