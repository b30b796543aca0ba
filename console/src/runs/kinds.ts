/** What runs do, in words. */

const KINDS: Record<string, string> = {
  sanitise: "Sanitise data",
  assess: "Assess risk and use",
  "audit-membership": "Attack a model: who was in its data",
  "audit-attributes": "Attack a model: what it tells of persons",
  "audit-generative": "Attack synthetic rows",
  "audit-disclosure": "Attack a released table",
};

export const KNOWN_KINDS = Object.keys(KINDS);

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}
