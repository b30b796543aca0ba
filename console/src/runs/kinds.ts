/** What runs do, in words. */

const KINDS: Record<string, string> = {
  sanitise: "Sanitise data",
  explore: "Compare settings",
  assess: "Attack a released table",
  "audit-membership": "Attack a model: who was in its data",
  "audit-attribute": "Attack a model: what it tells of persons",
  "audit-generative": "Attack synthetic rows",
};

export const KNOWN_KINDS = Object.keys(KINDS);

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}
