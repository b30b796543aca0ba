/** What pages show of a certificate, which is JSON-LD around the certificate itself. */

import type { Measurement } from "../api/types";

export interface Certificate {
  rows: number | null;
  measurements: Measurement[];
  utility: [string, string][];
}

const NAMES: Record<string, string> = {
  classes: "Groups of rows that look alike",
  average_class_size: "Rows of a group on average",
  global_certainty_penalty: "Precision lost, from 0 to 1",
};

export function certificateOf(document: unknown): Certificate {
  const outer = objectOf(document);
  const inner = "pe:certificate" in outer ? objectOf(outer["pe:certificate"]) : outer;
  const utility = objectOf(inner["utility"]);
  return {
    rows: typeof inner["rows_out"] === "number" ? inner["rows_out"] : null,
    measurements: Array.isArray(inner["measurements"]) ? (inner["measurements"] as Measurement[]) : [],
    utility: Object.entries(NAMES)
      .filter(([key]) => typeof utility[key] === "number")
      .map(([key, name]) => [name, rounded(utility[key] as number)]),
  };
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function rounded(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
}
