/** What pages show of a certificate. */

import type { Measurement } from "../api/types";

export interface Certificate {
  rows_out: number;
  measurements: Measurement[];
  utility?: Record<string, unknown> | null;
  policy_digest?: string;
  output_digest?: string;
}

const LOSSES: Record<string, string> = {
  classes: "Groups of rows that look alike",
  average_class_size: "Rows of a group on average",
  global_certainty_penalty: "Precision lost, from 0 to 1",
};

/** What a release lost, as names and figures. */
export function lossesOf(certificate: Certificate): [string, string][] {
  const utility = certificate.utility ?? {};
  return Object.entries(LOSSES).flatMap(([key, name]): [string, string][] => {
    const value = utility[key];
    return typeof value === "number" ? [[name, figure(value)]] : [];
  });
}

export function figure(value: number | string): string {
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4)));
}
