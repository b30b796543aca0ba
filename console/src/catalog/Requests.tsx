import { useState } from "react";
import { asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { AccessRequest, Me, Page } from "../api/types";
import { has, useMe } from "../app/session";
import { Badge, type Tone } from "../parts/Badge";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { say } from "../parts/messages";
import { Name } from "../parts/Name";
import { Refused, Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { Answering, type Verb } from "./Answering";
import { AskingBox, type Wanted } from "./AskingBox";

const TONES: Record<AccessRequest["state"], Tone> = {
  open: "warn",
  proposed: "warn",
  granted: "good",
  rejected: "bad",
  revoked: "quiet",
};

/** The requests for access that the reader made, or has to answer. */
export function Requests() {
  const me = useMe();
  const { loaded, reload } = useGet<Page<AccessRequest>>("/access-requests?limit=200");
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [answered, setAnswered] = useState<{ request: AccessRequest; verb: Verb } | null>(null);

  async function send(wanted: Wanted): Promise<boolean> {
    setRefusal(null);
    try {
      await post<AccessRequest>("/access-requests", wanted);
      say("The owner is asked.");
      reload();
      return true;
    } catch (error) {
      setRefusal(asRefusal(error));
      return false;
    }
  }

  return (
    <section className="panel">
      <h2>Requests for access</h2>
      {me.party !== "" && has(me, "consumer") && <AskingBox send={send} />}
      {refusal && <Refused refusal={refusal} />}
      <Shown loaded={loaded} what="requests" retry={reload}>
        {(page) =>
          page.items.length === 0 ? (
            <p className="quiet">Nobody has asked yet. Owners are asked here, and answer here.</p>
          ) : (
            <RequestTable requests={page.items} me={me} answer={(request, verb) => setAnswered({ request, verb })} />
          )
        }
      </Shown>
      {answered && (
        <Answering
          {...answered}
          close={() => setAnswered(null)}
          done={() => {
            setAnswered(null);
            reload();
          }}
        />
      )}
    </section>
  );
}

interface TableProps {
  requests: readonly AccessRequest[];
  me: Me;
  answer: (request: AccessRequest, verb: Verb) => void;
}

function RequestTable({ requests, me, answer }: TableProps) {
  const columns: ListColumn<AccessRequest>[] = [
    {
      name: "Data",
      cell: (request) =>
        request.targets.map((target) => (
          <div key={target}>
            <Name iri={target} />
          </div>
        )),
    },
    {
      name: "Who",
      cell: (request) => (
        <>
          {request.requester === me.id ? "you" : <Name iri={request.assignee} />}
          {request.reason && <p className="fine">{request.reason}</p>}
        </>
      ),
    },
    {
      name: "Purpose",
      cell: (request) => (request.purpose ? <Name iri={request.purpose} /> : <span className="quiet">any</span>),
    },
    { name: "Until", cell: (request) => <Time at={request.until} /> },
    {
      name: "State",
      cell: (request) => (
        <>
          <Badge tone={TONES[request.state]}>{request.state}</Badge>
          {request.note && <p className="fine">{request.note}</p>}
        </>
      ),
    },
    {
      name: "Answers",
      isUnnamed: true,
      cell: (request) => <Answers request={request} me={me} answer={(verb) => answer(request, verb)} />,
    },
  ];
  return <ListTable label="Requests for access" items={requests} keyOf={(one) => one.id} columns={columns} />;
}

interface AnswersProps {
  request: AccessRequest;
  me: Me;
  answer: (verb: Verb) => void;
}

/** What the owner may answer; nobody answers a request of their own. */
function Answers({ request, me, answer }: AnswersProps) {
  if (!has(me, "owner") || request.owner !== me.id || request.requester === me.id) return null;
  if (request.state === "open") {
    return (
      <span className="actions">
        <button type="button" className="small primary" onClick={() => answer("grant")}>
          Grant …
        </button>
        <button type="button" className="small" onClick={() => answer("reject")}>
          Reject …
        </button>
      </span>
    );
  }
  if (request.state !== "granted" && request.state !== "proposed") return null;
  return (
    <button type="button" className="small danger" onClick={() => answer("revoke")}>
      Revoke …
    </button>
  );
}
