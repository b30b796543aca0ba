/** Policies to begin with: those of the folder policies/, copied when the pages are built. */

const files = import.meta.glob<string>("../../../policies/*.jsonld", {
  query: "?raw",
  import: "default",
});

export interface Template {
  file: string;
  name: string;
  about: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    file: "customer",
    name: "Anonymised table",
    about:
      "Rows are released in groups of at least ten that look alike, each with at least three different sensitive values (l-diversity).",
  },
  {
    file: "adult",
    name: "Anonymised table, simplest form",
    about: "Rows are released in groups of at least five that look alike (k-anonymity).",
  },
  {
    file: "customer-close",
    name: "Anonymised table, closer to the whole",
    about: "As the first, and the sensitive values of each group are distributed much as those of all rows (t-closeness).",
  },
  {
    file: "diabetes",
    name: "Anonymised hospital records",
    about: "One patient has several rows: they are counted as one person, and diagnoses stay diverse in each group.",
  },
  {
    file: "census-masked",
    name: "Masked columns",
    about: "Columns are rounded, cut off at the ends, swapped or given noise; no groups are formed.",
  },
  {
    file: "visits-statistics",
    name: "Statistics with noise",
    about: "Only counts and sums leave, with noise calibrated so that no one person changes them much (differential privacy).",
  },
  {
    file: "research-centre",
    name: "Checked answers to queries",
    about: "Nothing is released in advance: queries are answered, and every answer is checked before it leaves.",
  },
  {
    file: "synthetic-release",
    name: "Synthetic rows",
    about: "Rows of a model that learned from the data are released, if attacks on them stay below the bounds.",
  },
  {
    file: "model-release",
    name: "Trained model",
    about: "A model is trained on anonymised rows and released, if attacks on it stay below the bounds.",
  },
];

export async function textOf(template: Template): Promise<string> {
  const load = files[`../../../policies/${template.file}.jsonld`];
  if (load === undefined) throw new Error(`there is no template ${template.file}`);
  return load();
}

/** The IRI that a policy of this name gets where nobody says otherwise. */
export function iriFor(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return `http://example.com/policy/${slug || "new"}`;
}

/** The text of a policy under another IRI, which the IRIs of its rules begin with. */
export function renamed(text: string, iri: string): string {
  const uid: unknown = (JSON.parse(text) as Record<string, unknown>)["uid"];
  if (typeof uid !== "string" || uid === iri) return text;
  const quoted = JSON.stringify(iri).slice(1, -1);
  const rest = /(?=["/#])/.source;
  return text.replace(new RegExp(`"${escaped(uid)}${rest}`, "g"), () => `"${quoted}`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
