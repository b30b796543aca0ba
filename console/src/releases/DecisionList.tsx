import { useState } from "react";
import { asRefusal, BASE, get } from "../api/client";
import { useLoading } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Logged, LogPage } from "../api/types";
import { Link, setQuery, useQuery } from "../app/router";
import { has, useMe } from "../app/session";
import { Badge } from "../parts/Badge";
import { Head } from "../parts/Head";
import { Name } from "../parts/Name";
import { Empty, Refused, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { Time } from "../parts/Time";
import { VerifyingLog } from "./VerifyingLog";

const FILTERS = ["effect", "assignee", "target", "since", "until"] as const;
type Filter = Record<(typeof FILTERS)[number], string>;

/** The address of the entries that a filter asks for; days are whole, in the reader's time zone. */
function pathOf(filter: Filter, cursor?: number): string {
  const asked = new URLSearchParams({ limit: "50" });
  for (const name of ["effect", "assignee", "target"] as const) if (filter[name]) asked.set(name, filter[name]);
  if (filter.since) asked.set("since", new Date(`${filter.since}T00:00`).toISOString());
  if (filter.until) asked.set("until", new Date(`${filter.until}T23:59:59.999`).toISOString());
  if (cursor !== undefined) asked.set("cursor", String(cursor));
  return `/decisions?${asked}`;
}

/** A page of entries: a search that has found none goes on, to the end of the log. */
async function readPage(filter: Filter, cursor?: number, signal?: AbortSignal): Promise<LogPage> {
  let page = await get<LogPage>(pathOf(filter, cursor), signal);
  while (page.items.length === 0 && page.next != null) {
    page = await get<LogPage>(pathOf(filter, page.next), signal);
  }
  return page;
}

export default function DecisionList() {
  const query = useQuery();
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""])) as Filter;
  const path = pathOf(filter);
  const loading = useLoading(path, (signal) => readPage(filter, undefined, signal));
  const { loaded, reload, replace } = loading;
  const me = useMe();
  const isAuditor = has(me, "owner", "auditor");
  const isFiltered = FILTERS.some((name) => filter[name] !== "");
  return (
    <>
      <Head
        title="Decisions"
        about="Every request that was decided, the newest first. Each entry of the log holds the digest of the one before it, so that none can be changed or left out unnoticed."
      >
        {has(me, "auditor") && (
          <a className="button" href={`${BASE}/decisions:export`} download="decisions.jsonl">
            Export the log
          </a>
        )}
      </Head>
      {isAuditor && <VerifyingLog path="/decisions:verify" name="log" />}
      <Filters filter={filter} isAuditor={isAuditor} />
      <Shown loaded={loaded} what="decisions" retry={reload}>
        {(page) =>
          page.items.length === 0 ? (
            <None isFiltered={isFiltered} />
          ) : (
            <>
              <Entries entries={page.items} />
              {page.next != null && (
                <Older
                  load={() => readPage(filter, page.next ?? undefined)}
                  add={(more) => replace((one) => ({ items: [...one.items, ...more.items], next: more.next ?? null }))}
                />
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

function Filters({ filter, isAuditor }: { filter: Filter; isAuditor: boolean }) {
  const set = (change: Partial<Filter>) => setQuery({ ...filter, ...change });
  return (
    <form className="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label className="field">
        <span>Outcome</span>
        <select value={filter.effect} onChange={(event) => set({ effect: event.target.value })}>
          <option value="">All</option>
          <option value="permit">Permitted</option>
          <option value="deny">Denied</option>
        </select>
      </label>
      {isAuditor && (
        <label className="field">
          <span>Who</span>
          <input placeholder="whole IRI" value={filter.assignee} onChange={(event) => set({ assignee: event.target.value })} />
        </label>
      )}
      <label className="field">
        <span>Data</span>
        <input placeholder="whole IRI" value={filter.target} onChange={(event) => set({ target: event.target.value })} />
      </label>
      <label className="field">
        <span>From</span>
        <input type="date" value={filter.since} onChange={(event) => set({ since: event.target.value })} />
      </label>
      <label className="field">
        <span>Until</span>
        <input type="date" value={filter.until} onChange={(event) => set({ until: event.target.value })} />
      </label>
    </form>
  );
}

function None({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No decision fits the filters">
        <p>
          <button type="button" onClick={() => setQuery({})}>
            Show all decisions
          </button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing was decided yet">
      <p>Requests for access and queries are logged here, whether they were permitted or denied.</p>
    </Empty>
  );
}

function Entries({ entries }: { entries: readonly Logged[] }) {
  return (
    <TableFrame label="Decisions">
      <thead>
        <tr>
          <th scope="col">No.</th>
          <th scope="col">When</th>
          <th scope="col">Outcome</th>
          <th scope="col">Who</th>
          <th scope="col">Action</th>
          <th scope="col">Data</th>
          <th scope="col">Purpose</th>
          <th scope="col">Rule</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.number}>
            <td className="number">
              <Link to={`/decisions/${entry.number}`}>{entry.number}</Link>
            </td>
            <td className="nowrap">
              <Time at={entry.logged} />
            </td>
            <td>
              <Badge tone={entry.effect === "permit" ? "good" : "bad"}>
                {entry.effect === "permit" ? "permitted" : "denied"}
              </Badge>
            </td>
            <td>
              <Name iri={entry.assignee} />
            </td>
            <td>
              <Name iri={entry.action} />
            </td>
            <td>
              {entry.targets.map((target, index) => (
                <span key={target}>
                  {index > 0 && ", "}
                  <Name iri={target} />
                </span>
              ))}
            </td>
            <td>{entry.purpose ? <Name iri={entry.purpose} /> : <span className="quiet">none</span>}</td>
            <td>{entry.rule ? <Name iri={entry.rule} /> : <span className="quiet">no rule permits it</span>}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function Older({ load, add }: { load: () => Promise<LogPage>; add: (page: LogPage) => void }) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  async function more(): Promise<void> {
    try {
      add(await load());
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }
  return (
    <div className="stack older">
      {refusal && <Refused refusal={refusal} />}
      <button type="button" onClick={() => void more()}>
        Show older ones
      </button>
    </div>
  );
}
