import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Holdings, Person } from "../api/types";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused, Shown } from "../parts/states";

interface Props {
  person: Person;
  people: readonly Person[];
  close: () => void;
}

/** What somebody leaves who may not sign in any more, and to whom it goes. */
export function HandingOver({ person, people, close }: Props) {
  const path = `/people/${encodeURIComponent(person.id)}`;
  const { loaded, reload } = useGet<Holdings>(`${path}/holdings`);
  const heirs = people.filter((one) => one.is_active && one.roles.includes("owner") && one.id !== person.id);
  return (
    <Sheet title={`What ${person.name} leaves`} close={close}>
      <Shown loaded={loaded} what="what there is" retry={reload}>
        {(holdings) => (
          <>
            <Held holdings={holdings} />
            {holdings.policies.length + holdings.datasets.length > 0 && (
              <Giving person={person} path={path} heirs={heirs} done={close} />
            )}
            <div className="actions">
              <button type="button" onClick={close}>
                Close
              </button>
            </div>
          </>
        )}
      </Shown>
    </Sheet>
  );
}

function Held({ holdings }: { holdings: Holdings }) {
  const kinds = [
    { name: "Policies in force", items: holdings.policies },
    { name: "Data", items: holdings.datasets },
  ].filter((one) => one.items.length > 0);
  if (kinds.length === 0) return <p>Nothing: no policy in force, and no data.</p>;
  return kinds.map(({ name, items }) => (
    <div key={name}>
      <h3>{name}</h3>
      <ul className="bullets">
        {items.map((one) => (
          <li key={one.id}>
            {one.name} <span className="fine">{one.iri}</span>
          </li>
        ))}
      </ul>
    </div>
  ));
}

interface GivingProps {
  person: Person;
  path: string;
  heirs: readonly Person[];
  done: () => void;
}

function Giving({ person, path, heirs, done }: GivingProps) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function give(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const to = String(new FormData(event.currentTarget).get("heir"));
    setBusy(true);
    setRefusal(null);
    try {
      await post<Holdings>(`${path}:hand-over`, { to });
      say(`What was ${person.name}'s is handed over.`);
      done();
    } catch (error) {
      setRefusal(asRefusal(error));
      setBusy(false);
    }
  }

  if (heirs.length === 0) return <p className="quiet">There is no other owner to hand it over to.</p>;
  return (
    <form className="stack" onSubmit={(event) => void give(event)}>
      <p>All of it goes to one owner, with requests for access and runs. Policies and grants stay in force.</p>
      <label className="field">
        <span>Hand over to</span>
        <select name="heir">
          {heirs.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="submit" className="danger" disabled={isBusy}>
          Hand over
        </button>
      </div>
    </form>
  );
}
