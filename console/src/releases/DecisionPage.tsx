import type { ReactNode } from "react";
import { useGet } from "../api/loading";
import type { DecisionDetail } from "../api/types";
import { Link } from "../app/router";
import { Badge } from "../parts/Badge";
import { Head } from "../parts/Head";
import { Name } from "../parts/Name";
import { Shown } from "../parts/states";
import { Time } from "../parts/Time";

/** A decision of the log: what was asked, what was decided, and by which rules. */
export default function DecisionPage({ number }: { number: string }) {
  const { loaded, reload } = useGet<DecisionDetail>(`/decisions/${encodeURIComponent(number)}`);
  return (
    <Shown loaded={loaded} what="the decision" retry={reload}>
      {(detail) => <OneDecision detail={detail} />}
    </Shown>
  );
}

function OneDecision({ detail }: { detail: DecisionDetail }) {
  const isPermit = detail.effect === "permit";
  return (
    <>
      <p className="crumb">
        <Link to="/decisions">Decisions</Link>
      </p>
      <Head title={`Decision ${detail.number}`} about={<>Logged <Time at={detail.logged} /></>}>
        <Badge tone={isPermit ? "good" : "bad"}>{isPermit ? "permitted" : "denied"}</Badge>
      </Head>
      <div className="columns">
        <Asked detail={detail} />
        <Why detail={detail} />
      </div>
    </>
  );
}

function Asked({ detail }: { detail: DecisionDetail }) {
  return (
    <section className="panel" aria-label="What was asked">
      <h2>What was asked</h2>
      <dl className="facts">
        <dt>Who</dt>
        <dd>
          <Name iri={detail.assignee} />
        </dd>
        <dt>Action</dt>
        <dd>
          <Name iri={detail.action} />
        </dd>
        <dt>Data</dt>
        <dd>
          {detail.targets.map((target) => (
            <div key={target}>
              <Name iri={target} />
            </div>
          ))}
        </dd>
        <dt>Purpose</dt>
        <dd>{detail.purpose ? <Name iri={detail.purpose} /> : "none"}</dd>
        {detail.time && (
          <>
            <dt>As of</dt>
            <dd>
              <Time at={detail.time} />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Why({ detail }: { detail: DecisionDetail }) {
  const { version } = detail;
  return (
    <section className="panel" aria-label="Why">
      <h2>Why</h2>
      {detail.rule ? (
        <p>
          The rule <Name iri={detail.rule} /> decided
          {version ? (
            <>
              , of{" "}
              <Link to={`/policies/${encodeURIComponent(version.policy)}`}>
                {version.name}, version {version.number}
              </Link>
              .
            </>
          ) : (
            <>
              , of the policy <Name iri={detail.policy} />.
            </>
          )}
        </p>
      ) : (
        <p>No rule permits it. Whatever no rule permits is denied.</p>
      )}
      <Rules title="Rules that cover the request">
        {detail.considered.map((one) => (
          <li key={`${one.policy} ${one.rule}`}>
            <Badge tone={one.applies ? "good" : "quiet"}>{one.applies ? "applies" : "does not apply"}</Badge> {one.kind}{" "}
            <Name iri={one.rule} />
            {one.conditions.length > 0 && (
              <ul className="bullets">
                {one.conditions.map((condition, index) => (
                  <li key={index}>
                    <Name iri={condition.operand} />: {condition.state}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </Rules>
      <Rules title="Permissions that nearly cover it">
        {detail.missed.map((one) => (
          <li key={`${one.policy} ${one.rule}`}>
            <Name iri={one.rule} />
          </li>
        ))}
      </Rules>
      <Rules title="Still owed">
        {detail.duties.map((one, index) => (
          <li key={index}>
            {one.actions.map((action) => (
              <Name key={action} iri={action} />
            ))}{" "}
            ({one.state})
          </li>
        ))}
      </Rules>
    </section>
  );
}

function Rules({ title, children }: { title: string; children: ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <ul className="bullets">{children}</ul>
    </div>
  );
}
