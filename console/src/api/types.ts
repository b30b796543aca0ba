/** The answers of the service that the pages read. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Me = Schemas["Actor"];
export type Role = Me["roles"][number];
export type Check = Schemas["Diagnostics"];
export type Policy = Schemas["PolicyView"];
export type Version = Schemas["VersionView"];
export type VersionText = Schemas["VersionText"];
export type VersionState = Version["state"];
export type Explanation = Schemas["Explanation"];
export type ConvertedText = Schemas["ConvertedText"];
export type Matrix = Schemas["AccessMatrix"];
export type Comparison = Schemas["Difference"];
export type Change = Schemas["Change"];
export type Steward = Schemas["StewardView"];
export type Holdings = Schemas["HoldingsView"];
export type Owner = Schemas["OwnerView"];
export type Dataset = Schemas["DatasetView"];
export type ColumnRole = Schemas["ColumnRole"];
export type ColumnProfile = Schemas["ColumnProfileView"];
export type DatasetProfile = Schemas["DatasetProfile"];
export type Generalised = Schemas["GeneralisationPreview"];
export type Lineage = Schemas["LineageView"];
export type SignInLink = Schemas["LinkView"];
export type Person = Schemas["PersonView"];
export type Logged = Schemas["LoggedView"];
export type DecisionDetail = Schemas["DecisionDetail"];
export type LogPage = Schemas["LogPage"];
export type LogIntegrity = Schemas["LogIntegrity"];
export type QueryAnswer = Schemas["QueryAnswer"];
export type Plans = Schemas["PlansView"];
export type Model = Schemas["ModelView"];
export type Upload = Schemas["UploadView"];

export interface Page<T> {
  items: T[];
  next?: string | null;
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

export type Run = Schemas["RunView"];
export type Budgets = Schemas["BudgetsView"];
export type OwnBudgets = Schemas["OwnAccountsView"];
export type Budget = Schemas["BudgetView"];
export type RunComparison = Schemas["RunComparison"];
export type RunKind = Schemas["RunKindView"];
export type RunState = Run["state"];
export type Release = Schemas["ReleaseView"];
export type ReleaseContrast = Schemas["ReleaseContrast"];
export type ReleaseState = Release["state"];
export type Releases = Schemas["ReleasesView"];
export type ReleaseVerdict = Schemas["ReleaseVerdict"];
export type Review = Schemas["ReviewSummary"];
export type UnseenReviews = Schemas["UnseenCount"];
export type ReviewState = Review["state"];
export type ReviewDetail = Schemas["ReviewView"];
export type ReviewedOutput = ReviewDetail["outputs"][number];
export type ReviewEvidence = Schemas["EvidenceView"];
export type ReviewedAnswer = Schemas["ReviewedAnswer"];
export type AccessRequest = Schemas["AccessView"];
export type Artefact = Schemas["ArtefactView"];

/** A plan as pages read it: steps of every kind have their own fields. */
export interface PlanStep {
  step: string;
  [field: string]: unknown;
}

export interface Measurement {
  bound: string;
  column: string;
  sense: string;
  asked: number | string;
  achieved: number | string;
}
