/** What the settings of a run look like, as their JSON Schema has it. */

const RESOURCES = ["dataset", "release", "policy", "model", "description"] as const;

/** What the service has, and settings name by its identifier. */
export type Resource = (typeof RESOURCES)[number];

export interface Setting {
  name: string;
  about: string;
  kind: Resource | "datasets" | "flag" | "choice" | "number" | "list" | "values" | "json" | "text";
  isRequired: boolean;
  usual: unknown;
  choices: readonly string[];
  least: number | undefined;
  most: number | undefined;
  isWhole: boolean;
}

interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  resource?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  anyOf?: Schema[];
  additionalProperties?: Schema | boolean;
}

/** The settings of a kind of runs, those that have to be given first. */
export function settingsOf(schema: Record<string, unknown>): Setting[] {
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  const properties = schema["properties"] as Record<string, Schema>;
  const settings = Object.entries(properties).map(([name, own]) => settingOf(name, own, required.has(name)));
  return [...settings.filter((one) => one.isRequired), ...settings.filter((one) => !one.isRequired)];
}

function settingOf(name: string, own: Schema, isRequired: boolean): Setting {
  const actual = own.anyOf?.find((one) => one.type !== "null") ?? own;
  return {
    name,
    about: own.description ?? "",
    kind: kindOf(actual),
    isRequired,
    usual: own.default,
    choices: actual.enum ?? [],
    least: actual.minimum,
    most: actual.maximum,
    isWhole: actual.type === "integer",
  };
}

function kindOf(schema: Schema): Setting["kind"] {
  const resource = RESOURCES.find((one) => one === schema.resource);
  if (resource !== undefined) return resource;
  if (schema.enum !== undefined) return "choice";
  if (schema.type === "boolean") return "flag";
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "array") return "list";
  if (schema.type !== "object") return "text";
  const each = schema.additionalProperties;
  if (typeof each !== "object") return "json";
  if (each.resource === "dataset") return "datasets";
  return each.type === "array" ? "values" : "json";
}

/** What was typed for a setting, as the service reads it; nothing where it is left as it is. */
export function valueOf(setting: Setting, given: FormDataEntryValue[]): unknown {
  const text = String(given[0] ?? "").trim();
  if (setting.kind === "flag") return given.length > 0 ? true : undefined;
  if (setting.kind === "datasets") return Object.fromEntries(given.map((one) => JSON.parse(String(one)) as [string, string]));
  if (text === "") return undefined;
  if (setting.kind === "number") return Number(text);
  if (setting.kind === "list") return text.split(",").map((one) => one.trim()).filter((one) => one !== "");
  if (setting.kind === "values") return Object.fromEntries(text.split("\n").filter((one) => one.trim() !== "").map(valuesOf));
  return setting.kind === "json" ? (JSON.parse(text) as unknown) : text;
}

function valuesOf(line: string): [string, number[]] {
  const [name = "", values = ""] = line.split(":");
  const numbers = values.split(",").map((one) => one.trim()).filter((one) => one !== "").map(Number);
  if (numbers.length === 0 || numbers.some(Number.isNaN)) throw new SyntaxError(line);
  return [name.trim(), numbers];
}

/** Why what was typed for a setting cannot be read, in words. */
export function misreading(setting: Setting): string {
  const words = setting.kind === "values" ? "Write a parameter a line, such as “k: 2, 5, 10”." : "Write it as JSON.";
  return `${nameOf(setting)} cannot be read. ${words}`;
}

export function nameOf(setting: Setting): string {
  const words = setting.name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
