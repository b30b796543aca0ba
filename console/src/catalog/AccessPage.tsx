import { has, useMe } from "../app/session";
import { Head } from "../parts/Head";
import { QueryBox } from "./QueryBox";
import { RequestBox } from "./RequestBox";
import { Requests } from "./Requests";

export default function AccessPage() {
  const me = useMe();
  const mayQuery = has(me, "consumer");
  return (
    <>
      <Head title="Access" about="Ask what policies permit, ask owners for access, and query the data that you may read." />
      <div className="stack">
        {me.party === "" && mayQuery && (
          <p className="notice warn">
            Policies do not know you yet: they call people by an IRI, and you have none. An administrator gives it
            to you.
          </p>
        )}
        <RequestBox mayAskForOthers={has(me, "owner", "steward")} party={me.party} />
        {has(me, "consumer", "owner") && <Requests />}
        {mayQuery && <QueryBox />}
      </div>
    </>
  );
}
