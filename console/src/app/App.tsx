import { lazy, Suspense, useEffect, type ReactNode } from "react";
import { keepToken } from "../api/client";
import { useGet } from "../api/loading";
import type { Me } from "../api/types";
import { UnseenCounting } from "../reviews/unseen";
import { Busy, Refused } from "../parts/states";
import { Frame } from "./Frame";
import { Link, navigate, usePath } from "./router";
import { has, screensOf, SignedIn } from "./session";
import { SignIn } from "./SignIn";

const PolicyList = lazy(() => import("../policies/PolicyList"));
const NewPolicy = lazy(() => import("../policies/NewPolicy"));
const PolicyPage = lazy(() => import("../policies/PolicyPage"));
const DataList = lazy(() => import("../data/DataList"));
const NewData = lazy(() => import("../data/NewData"));
const DataPage = lazy(() => import("../data/DataPage"));
const RunList = lazy(() => import("../runs/RunList"));
const NewRun = lazy(() => import("../runs/starting/NewRun"));
const RunPage = lazy(() => import("../runs/RunPage"));
const ComparisonPage = lazy(() => import("../runs/ComparisonPage"));
const ReleaseList = lazy(() => import("../releases/ReleaseList"));
const BudgetList = lazy(() => import("../releases/BudgetList"));
const ReviewList = lazy(() => import("../reviews/ReviewList"));
const ReviewPage = lazy(() => import("../reviews/ReviewPage"));
const ReleasePage = lazy(() => import("../releases/ReleasePage"));
const AccessPage = lazy(() => import("../catalog/AccessPage"));
const PeoplePage = lazy(() => import("../people/PeoplePage"));
const DecisionPage = lazy(() => import("../releases/DecisionPage"));
const DecisionList = lazy(() => import("../releases/DecisionList"));

const PAGES: readonly [RegExp, (id: string) => ReactNode][] = [
  [/^\/policies$/, () => <PolicyList />],
  [/^\/policies\/new$/, () => <NewPolicy />],
  [/^\/policies\/([^/]+)$/, (id) => <PolicyPage key={id} id={id} />],
  [/^\/data$/, () => <DataList />],
  [/^\/data\/new$/, () => <NewData />],
  [/^\/data\/([^/]+)$/, (id) => <DataPage key={id} id={id} />],
  [/^\/runs$/, () => <RunList />],
  [/^\/runs\/new$/, () => <NewRun />],
  [/^\/runs\/([^/]+)$/, (id) => <RunPage key={id} id={id} />],
  [/^\/runs\/([^/]+)\/comparison$/, (id) => <ComparisonPage id={id} />],
  [/^\/releases$/, () => <ReleaseList />],
  [/^\/releases\/budgets$/, () => <BudgetList />],
  [/^\/releases\/reviews$/, () => <ReviewList />],
  [/^\/releases\/reviews\/([^/]+)$/, (id) => <ReviewPage key={id} id={id} />],
  [/^\/releases\/([^/]+)$/, (id) => <ReleasePage key={id} id={id} />],
  [/^\/access$/, () => <AccessPage />],
  [/^\/decisions$/, () => <DecisionList />],
  [/^\/decisions\/([0-9]+)$/, (number) => <DecisionPage key={number} number={number} />],
  [/^\/people$/, () => <PeoplePage />],
];

export function App() {
  const { loaded, reload } = useGet<Me>("/me");
  if (loaded.state === "loading") return <Alone><Busy what="Signing in" /></Alone>;
  if (loaded.state === "refused") {
    if (loaded.refusal.status === 401) return <Alone><SignIn /></Alone>;
    return <Alone><Refused refusal={loaded.refusal} retry={reload} /></Alone>;
  }
  keepToken(loaded.value.csrf_token);
  return (
    <SignedIn value={loaded.value}>
      <Pages me={loaded.value} />
    </SignedIn>
  );
}

function Alone({ children }: { children: ReactNode }) {
  return <main className="alone">{children}</main>;
}

function Pages({ me }: { me: Me }) {
  const path = usePath();
  const first = screensOf(me)[0]?.path;
  useEffect(() => {
    if (path === "/" && first !== undefined) navigate(first, "replace");
  }, [path, first]);
  const frame = (
    <Frame path={path}>
      <Suspense fallback={<Busy what="Loading" />}>{pageAt(path)}</Suspense>
    </Frame>
  );
  const mayReview = has(me, "owner", "steward", "consumer", "auditor");
  return mayReview ? <UnseenCounting path={path}>{frame}</UnseenCounting> : frame;
}

function pageAt(path: string): ReactNode {
  if (path === "/") return <NoScreen />;
  for (const [pattern, page] of PAGES) {
    const match = pattern.exec(path);
    if (match !== null) return page(decodeURIComponent(match[1] ?? ""));
  }
  return <NotFound />;
}

function NoScreen() {
  return (
    <>
      <h1 tabIndex={-1}>Welcome</h1>
      <p>Your roles do not include one of these pages. Ask an administrator for the role you need.</p>
    </>
  );
}

function NotFound() {
  return (
    <>
      <h1 tabIndex={-1}>There is no page here</h1>
      <p>
        The address may be misspelt, or what it showed was removed. <Link to="/">Go to the first page</Link>
      </p>
    </>
  );
}
