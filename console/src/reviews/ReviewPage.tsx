import { useEffect, useState } from "react";
import { ask, BASE } from "../api/client";
import { useGet, useLoading } from "../api/loading";
import type { Me, ReviewDetail, ReviewedAnswer, ReviewedOutput } from "../api/types";
import { Link } from "../app/router";
import { useMe } from "../app/session";
import { Badge, type Tone } from "../parts/Badge";
import { Head } from "../parts/Head";
import { Name } from "../parts/Name";
import { Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { Deciding, type Verdict } from "./Deciding";
import { Evidence } from "./Evidence";
import { FigureTable } from "./FigureTable";
import { ReviewBadge } from "./ReviewBadge";
import { noteSeen } from "./unseen";

interface Opened {
  review: ReviewDetail;
  etag: string;
}

async function open(path: string, signal: AbortSignal): Promise<Opened> {
  const answer = await ask<ReviewDetail>("GET", path, { signal });
  return { review: answer.value, etag: answer.etag };
}

/** One review: the outputs, where they stand, the evidence for who decides, the answer for who asked. */
export default function ReviewPage({ id }: { id: string }) {
  const path = `/reviews/${encodeURIComponent(id)}`;
  const { loaded, reload } = useLoading(path, (signal) => open(path, signal));
  return (
    <Shown loaded={loaded} what="the review" retry={reload}>
      {(opened) => <OneReview {...opened} path={path} changed={reload} />}
    </Shown>
  );
}

interface Props extends Opened {
  path: string;
  changed: () => void;
}

function OneReview({ review, etag, path, changed }: Props) {
  const me = useMe();
  const isOwn = review.submitter === me.id;
  useEffect(() => {
    if (review.is_unseen) void noteSeen(path);
  }, [review.is_unseen, path]);
  return (
    <>
      <p className="crumb">
        <Link to="/releases/reviews">Reviews</Link>
      </p>
      <Head
        title={review.kind === "answer" ? "Answer to a query" : "Outputs of an analysis"}
        about={
          <>
            About <Name iri={review.dataset} />, sent by {isOwn ? "you" : <Name iri={review.assignee || review.submitter} />}{" "}
            <Time at={review.created} />
          </>
        }
      >
        <ReviewBadge state={review.state} />
      </Head>
      <div className="stack">
        {review.kind === "answer" && <pre tabIndex={0}>{review.request}</pre>}
        {review.purpose && (
          <p>
            For the purpose <Name iri={review.purpose} />
          </p>
        )}
        {review.outputs.map((output) => (
          <OneOutput key={output.name} {...{ output, review, etag, path, changed, me }} />
        ))}
        {isOwn && review.kind === "answer" && review.state === "accepted" && <Accepted path={path} />}
        {review.may_see_evidence && <Evidence path={path} />}
        <p className="fine">
          Each step is in a log that is chained. Its head, to be kept elsewhere: <code className="iri">{review.head}</code>
        </p>
      </div>
    </>
  );
}

const TONES: Record<string, Tone> = { open: "warn", accepted: "good", released: "good", rejected: "bad" };

interface OutputProps extends Props {
  output: ReviewedOutput;
  me: Me;
}

function OneOutput({ output, review, etag, path, changed, me }: OutputProps) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const mayDecide = output.standing === "open" && review.may_decide;
  const isMine = review.submitter === me.id && review.state !== "open";
  const reasons = Object.entries(output.reasons);
  return (
    <section className="panel">
      <h2>{review.kind === "answer" ? "What the rules say" : output.name}</h2>
      <p>
        <Badge tone={TONES[output.standing] ?? "quiet"}>{output.standing}</Badge>{" "}
        {output.standing === "open" && "Nobody has decided yet."}
        {output.reason && <strong>{output.reason}</strong>}
      </p>
      {review.kind !== "answer" && <p className="fine">{output.request}</p>}
      {reasons.length > 0 && (
        <ul className="bullets">
          {reasons.map(([code, sentence]) => (
            <li key={code}>
              <span className="code">{code}</span> {sentence}
            </li>
          ))}
        </ul>
      )}
      {output.comments.map((comment, index) => (
        <p key={index}>Comment: {comment}</p>
      ))}
      {output.exception && (
        <p className="notice warn">
          <strong>All of it is asked for:</strong> {output.exception}
        </p>
      )}
      {mayDecide && (
        <div className="actions">
          <button type="button" className="primary" onClick={() => setVerdict("accept")}>
            Accept …
          </button>
          <button type="button" className="danger" onClick={() => setVerdict("reject")}>
            Reject …
          </button>
        </div>
      )}
      {isMine && output.files.length > 0 && (
        <div className="actions">
          {output.files.map((file) => (
            <a key={file} className="button" href={`${BASE}${path}/files/${encodeURIComponent(file)}`} download={file}>
              Save {file}
            </a>
          ))}
        </div>
      )}
      {verdict && (
        <Deciding
          {...{ path, etag, output, verdict }}
          close={() => {
            setVerdict(null);
            changed();
          }}
        />
      )}
    </section>
  );
}

/** The answer just as it was accepted, for who asked. */
function Accepted({ path }: { path: string }) {
  const answer = `${path}/answer`;
  const { loaded, reload } = useGet<ReviewedAnswer>(answer);
  return (
    <section className="panel">
      <h2>The answer</h2>
      <Shown loaded={loaded} what="the answer" retry={reload}>
        {(rows) => (
          <FigureTable
            label="The accepted answer"
            columns={rows.columns}
            rows={rows.rows.map((row) => rows.columns.map((column) => textOf(row[column])))}
            isCut={rows.is_cut ?? false}
          />
        )}
      </Shown>
    </section>
  );
}

function textOf(cell: unknown): string | null {
  if (cell === null || cell === undefined) return null;
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}
