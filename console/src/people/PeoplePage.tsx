import { useState } from "react";
import { ask, asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Page, Person, Role, SignInLink } from "../api/types";
import { useMe } from "../app/session";
import { Badge } from "../parts/Badge";
import { Head } from "../parts/Head";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused, Shown } from "../parts/states";
import { TableFrame } from "../parts/TableFrame";
import { PersonForm, type PersonValues } from "./PersonForm";
import { ROLES } from "./roles";

type Open =
  | { what: "new" }
  | { what: "change"; person: Person }
  | { what: "link"; person: Person; link: SignInLink };

/** Who is known to the service, for administrators. */
export default function PeoplePage() {
  const { loaded, reload } = useGet<Page<Person>>("/people?limit=200");
  const [open, setOpen] = useState<Open | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const close = () => setOpen(null);

  async function invite(person: Person): Promise<void> {
    setRefusal(null);
    try {
      const link = await post<SignInLink>(`/people/${encodeURIComponent(person.id)}:invite`);
      setOpen({ what: "link", person, link });
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  return (
    <>
      <Head
        title="People"
        about="Who may sign in, what their roles let them do here, and by which identifier policies call them."
      >
        <button type="button" className="primary" onClick={() => setOpen({ what: "new" })}>
          Add a person
        </button>
      </Head>
      {refusal && <Refused refusal={refusal} />}
      <Shown loaded={loaded} what="people" retry={reload}>
        {(page) => (
          <People
            people={page.items}
            change={(person) => setOpen({ what: "change", person })}
            invite={(person) => void invite(person)}
          />
        )}
      </Shown>
      {open?.what === "new" && <Adding close={close} done={reload} />}
      {open?.what === "change" && <Changing person={open.person} close={close} done={reload} />}
      {open?.what === "link" && <Linking person={open.person} link={open.link} close={close} />}
    </>
  );
}

interface PeopleProps {
  people: readonly Person[];
  change: (person: Person) => void;
  invite: (person: Person) => void;
}

function People({ people, change, invite }: PeopleProps) {
  const me = useMe();
  return (
    <TableFrame label="People">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Roles</th>
          <th scope="col">Identifier in policies</th>
          <th scope="col">
            <span className="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {people.map((person) => (
          <tr key={person.id}>
            <th scope="row">
              {person.name} {person.id === me.id && <span className="quiet">(you)</span>}{" "}
              {!person.is_active && <Badge tone="quiet">may not sign in</Badge>}
            </th>
            <td>{person.roles.map((role) => ROLES[role].name).join(", ")}</td>
            <td className="iri">{person.party || <span className="quiet">none</span>}</td>
            <td>
              <span className="actions">
                <button type="button" className="small" aria-label={`Change ${person.name}`} onClick={() => change(person)}>
                  Change
                </button>
                {person.is_active && (
                  <button
                    type="button"
                    className="small"
                    aria-label={`Make a sign-in link for ${person.name}`}
                    onClick={() => invite(person)}
                  >
                    Sign-in link
                  </button>
                )}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function Adding({ close, done }: { close: () => void; done: () => void }) {
  async function add(values: PersonValues): Promise<void> {
    await post<Person>("/people", { name: values.name, roles: values.roles, party: values.party });
    say(`${values.name} is added.`);
    close();
    done();
  }
  return (
    <Sheet title="Add a person" close={close}>
      <PersonForm values={{ name: "", roles: [], party: "", isActive: true }} isNew save={add} close={close} />
    </Sheet>
  );
}

function Changing({ person, close, done }: { person: Person; close: () => void; done: () => void }) {
  async function change(values: PersonValues): Promise<void> {
    await ask<Person>("PATCH", `/people/${encodeURIComponent(person.id)}`, {
      body: { roles: values.roles, party: values.party, is_active: values.isActive },
      etag: `"${person.revision}"`,
    });
    say(`${person.name} is changed.`);
    close();
    done();
  }
  const values = { name: person.name, roles: person.roles as Role[], party: person.party, isActive: person.is_active };
  return (
    <Sheet title={`Change ${person.name}`} close={close}>
      <PersonForm values={values} isNew={false} save={change} close={close} />
    </Sheet>
  );
}

function Linking({ person, link, close }: { person: Person; link: SignInLink; close: () => void }) {
  return (
    <Sheet title={`Sign-in link for ${person.name}`} close={close}>
      <p>It works once, within 15 minutes. Give it to nobody else: whoever follows it is {person.name} here.</p>
      <pre tabIndex={0} className="link">
        {link.url}
      </pre>
      <div className="actions">
        <button
          type="button"
          className="primary"
          onClick={() => void navigator.clipboard.writeText(link.url).then(() => say("The link is copied."))}
        >
          Copy
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Sheet>
  );
}
