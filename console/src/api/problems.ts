/** What is wrong with a text, where, and what would mend it, as the service says it. */

import type { components } from "./schema";

type Schemas = components["schemas"];
export type Problem = Schemas["ProblemView"];
export type Fix = Schemas["ProblemFix"];
export type Spot = Schemas["ProblemPlace"];

/** A request that was refused, or that never arrived: `status` is 0 then. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = "",
    readonly problems: readonly Problem[] = [],
    readonly request = "",
  ) {
    super(message);
    this.name = "Refusal";
  }
}

type Json = Record<string, unknown>;

function text(body: Json, ...names: string[]): string {
  for (const name of names) {
    const value = body[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

/** The refusal that a body of problem+json (RFC 9457) tells of, whatever of it is there. */
export function refusalOf(status: number, body: unknown, request: string): Refusal {
  const json: Json = typeof body === "object" && body !== null ? (body as Json) : {};
  const problems = Array.isArray(json["problems"]) ? (json["problems"] as Problem[]) : [];
  const first = problems[0];
  const told = text(json, "detail", "message", "title");
  return new Refusal(
    status,
    text(json, "code") || first?.code || "",
    first?.message ?? (told || `The service answered with status ${status} and did not say why.`),
    first?.hint ?? text(json, "hint"),
    problems,
    text(json, "request") || request,
  );
}

export const UNREACHABLE = new Refusal(
  0,
  "",
  "The service cannot be reached.",
  "Check that it is running and that this computer is connected, then try again.",
);
