/** The answers of the service that the pages read. */

import type { Problem } from "./problems";

export type Role = "owner" | "steward" | "consumer" | "auditor" | "administrator";

export interface Me {
  id: string;
  name: string;
  roles: Role[];
  party: string;
  csrf_token: string;
}

export interface Page<T> {
  items: T[];
  next: string | null;
}

export interface Check {
  valid: boolean;
  problems: Problem[];
  hints: Problem[];
}

export type VersionState = "draft" | "proposed" | "published" | "replaced";

export interface Version {
  number: number;
  state: VersionState;
  digest: string;
  author: string;
  created: string;
  published: string | null;
  text?: string;
}

export interface Policy {
  id: string;
  name: string;
  owner: string;
  published_version: number | null;
  versions: Version[];
}

export interface Matrix {
  assignees: string[];
  rows: MatrixRow[];
}

export interface MatrixRow {
  target: string;
  action: string;
  purpose: string;
  cells: Record<string, string>;
}

export interface Explanation {
  sentences: string[];
  matrix: Matrix;
}

export interface Decision {
  effect: "permit" | "deny";
  reason: string;
  policy: string;
  rule: string;
  derivation: string[];
  duties: Duty[];
  near_misses: { policy: string; rule: string; missing: string[] }[];
  request: { assignee: string; action: string; targets: string[]; purpose: string };
  time: string;
}

export interface Duty {
  policy: string;
  rule: string;
  actions: string[];
  by: string[];
  state: "outstanding" | "violated";
}

export interface Comparison {
  changes: Change[];
  notes: string[];
}

export interface Change {
  policy: string;
  rule: string;
  what: string;
  before: string;
  after: string;
  tendency: string;
}

export type RunState = "queued" | "running" | "cancelling" | "succeeded" | "failed" | "cancelled";

export interface Run {
  id: string;
  kind: string;
  state: RunState;
  attempt: number;
  stage: string;
  done: number;
  total: number;
  problems: Problem[];
  created: string;
  started: string | null;
  finished: string | null;
  settings: Record<string, unknown>;
}

export interface Column {
  name: string;
  type: string;
  role: string | null;
  proposed_role?: string | null;
  /** Why the role is proposed. */
  reason?: string;
}

export interface Dataset {
  id: string;
  name: string;
  iri: string;
  rows: number | null;
  columns: Column[];
  created: string;
}

export interface Upload {
  id: string;
  offset: number;
}

export interface Plan {
  policy: string;
  rule: string;
  assignees: string[];
  purposes: string[];
  steps: PlanStep[];
}

export interface PlanStep {
  step: string;
  [field: string]: unknown;
}

export interface Measurement {
  bound: string;
  column: string;
  sense: string;
  asked: number;
  achieved: number;
}

export interface Release {
  id: string;
  output: string;
  policy: string;
  state: string;
  created: string;
  run: string | null;
}

export interface LogEntry {
  number: number;
  logged: string;
  hash: string;
  decision: Decision;
}
