import type { ReactNode } from "react";
import { Link } from "../app/router";
import { Name } from "../parts/Name";

/** What a run was asked for, without what was left as it is by itself. */
export function Settings({ settings }: { settings: Record<string, unknown> }) {
  const shown = Object.entries(settings).filter(([, value]) => value !== null && value !== "");
  return (
    <>
      {shown.map(([name, value]) => (
        <Fact key={name} name={name.replaceAll("_", " ")}>
          {wordsOf(name, value)}
        </Fact>
      ))}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="setting">{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function wordsOf(name: string, value: unknown): ReactNode {
  if (name === "policy" && typeof value === "string") {
    return <Link to={`/policies/${encodeURIComponent(value)}`}>{value}</Link>;
  }
  if (name === "datasets" && typeof value === "object") {
    return Object.entries(value as Record<string, string>).map(([iri, id]) => (
      <div key={iri}>
        <Link to={`/data/${encodeURIComponent(id)}`}>
          <Name iri={iri} />
        </Link>
      </div>
    ));
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
