import type { ReactNode } from "react";
import { useGet } from "../api/loading";
import type { Me, Page, Review } from "../api/types";
import { Link } from "../app/router";
import { has, useMe } from "../app/session";
import { Badge } from "../parts/Badge";
import { Head } from "../parts/Head";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { Name } from "../parts/Name";
import { Empty, Shown } from "../parts/states";
import { Time } from "../parts/Time";
import { ReleaseSections } from "../releases/ReleaseSections";
import { ReviewBadge } from "./ReviewBadge";
import { SendingOutputs } from "./SendingOutputs";

/** The outputs that the reader has to decide about, and those that they asked to have reviewed. */
export default function ReviewList() {
  const me = useMe();
  const { loaded, reload } = useGet<Page<Review>>("/reviews?limit=200");
  return (
    <>
      <Head
        title="Reviews"
        about="What no rule decides about the results of analyses, a person does: the owner of the data accepts or rejects it, with a reason."
      />
      <ReleaseSections />
      <div className="stack">
        {has(me, "consumer", "owner", "steward") && <SendingOutputs />}
        <Shown loaded={loaded} what="reviews" retry={reload}>
          {(page) => (page.items.length === 0 ? <NoReview /> : <Reviews reviews={page.items} me={me} />)}
        </Shown>
      </div>
    </>
  );
}

function NoReview() {
  return (
    <Empty title="Nothing was sent for review yet">
      <p>
        Where the rules for outputs leave a figure to a person, the answer to a query comes here by itself. Folders of
        sessions and of checked tables are sent here.
      </p>
    </Empty>
  );
}

function Reviews({ reviews, me }: { reviews: readonly Review[]; me: Me }) {
  const waiting = reviews.filter((one) => one.may_decide);
  const others = reviews.filter((one) => !one.may_decide);
  return (
    <>
      {waiting.length > 0 && (
        <section className="panel">
          <h2>Waiting for a decision</h2>
          <ReviewTable label="Waiting for a decision" reviews={waiting} me={me} />
        </section>
      )}
      {others.length > 0 && (
        <section className="panel">
          <h2>{waiting.length > 0 ? "Others" : "All reviews"}</h2>
          <ReviewTable label="Other reviews" reviews={others} me={me} />
        </section>
      )}
    </>
  );
}

interface TableProps {
  label: string;
  reviews: readonly Review[];
  me: Me;
}

function stateOf(review: Review): ReactNode {
  return (
    <>
      <ReviewBadge state={review.state} /> {review.is_unseen && <Badge tone="live">new</Badge>}
    </>
  );
}

function ReviewTable({ label, reviews, me }: TableProps) {
  const columns: ListColumn<Review>[] = [
    {
      name: "What",
      cell: (review) => (
        <Link to={`/releases/reviews/${encodeURIComponent(review.id)}`} className="asked">
          {review.request}
        </Link>
      ),
    },
    { name: "Data", cell: (review) => <Name iri={review.dataset} /> },
    {
      name: "Who",
      cell: (review) => (review.submitter === me.id ? "you" : <Name iri={review.assignee || review.submitter} />),
    },
    { name: "Sent", look: "nowrap", cell: (review) => <Time at={review.created} /> },
    { name: "State", cell: stateOf },
  ];
  return <ListTable label={label} items={reviews} keyOf={(one) => one.id} columns={columns} />;
}
