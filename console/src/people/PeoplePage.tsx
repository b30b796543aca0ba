import { useState } from "react";
import { ask, asRefusal, post } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Page, Person, Role, SignInLink } from "../api/types";
import { useMe } from "../app/session";
import { Badge } from "../parts/Badge";
import { Head } from "../parts/Head";
import { ListTable, type ListColumn } from "../parts/ListTable";
import { say } from "../parts/messages";
import { Sheet } from "../parts/Sheet";
import { Refused, Shown } from "../parts/states";
import { HandingOver } from "./HandingOver";
import { PersonForm, type PersonValues } from "./PersonForm";
import { ROLES } from "./roles";

type Open =
  | { what: "new" }
  | { what: "change"; person: Person }
  | { what: "leaves"; person: Person }
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
            handOver={(person) => setOpen({ what: "leaves", person })}
          />
        )}
      </Shown>
      {open?.what === "new" && <Adding close={close} done={reload} />}
      {open?.what === "change" && <Changing person={open.person} close={close} done={reload} />}
      {open?.what === "leaves" && loaded.state === "ready" && (
        <HandingOver person={open.person} people={loaded.value.items} close={close} />
      )}
      {open?.what === "link" && <Linking person={open.person} link={open.link} close={close} />}
    </>
  );
}

interface PeopleProps {
  people: readonly Person[];
  change: (person: Person) => void;
  invite: (person: Person) => void;
  handOver: (person: Person) => void;
}

function People({ people, ...verbs }: PeopleProps) {
  const me = useMe();
  const columns: ListColumn<Person>[] = [
    {
      name: "Name",
      cell: (person) => (
        <>
          {person.name} {person.id === me.id && <span className="quiet">(you)</span>}{" "}
          {!person.is_active && <Badge tone="quiet">may not sign in</Badge>}
        </>
      ),
    },
    { name: "Roles", cell: (person) => person.roles.map((role) => ROLES[role].name).join(", ") },
    {
      name: "Identifier in policies",
      look: "iri",
      cell: (person) => person.party || <span className="quiet">none</span>,
    },
    {
      name: "Actions",
      isUnnamed: true,
      cell: (person) => <PersonActions person={person} {...verbs} />,
    },
  ];
  return <ListTable label="People" items={people} keyOf={(person) => person.id} columns={columns} />;
}

type ActionsProps = Omit<PeopleProps, "people"> & { person: Person };

function PersonActions({ person, change, invite, handOver }: ActionsProps) {
  return (
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
      {!person.is_active && (
        <button type="button" className="small" aria-label={`Hand over what ${person.name} left`} onClick={() => handOver(person)}>
          Hand over
        </button>
      )}
    </span>
  );
}

function Adding({ close, done }: { close: () => void; done: () => void }) {
  async function add(values: PersonValues): Promise<void> {
    await post<Person>("/people", { name: values.name, roles: values.roles, party: values.party, subject: values.subject });
    say(`${values.name} is added.`);
    close();
    done();
  }
  return (
    <Sheet title="Add a person" close={close}>
      <PersonForm values={{ name: "", roles: [], party: "", subject: "", isActive: true }} isNew save={add} close={close} />
    </Sheet>
  );
}

function Changing({ person, close, done }: { person: Person; close: () => void; done: () => void }) {
  async function change(values: PersonValues): Promise<void> {
    await ask<Person>("PATCH", `/people/${encodeURIComponent(person.id)}`, {
      body: { roles: values.roles, party: values.party, subject: values.subject, is_active: values.isActive },
      etag: `"${person.revision}"`,
    });
    say(`${person.name} is changed.`);
    close();
    done();
  }
  const values = {
    name: person.name,
    roles: person.roles as Role[],
    party: person.party,
    subject: person.subject ?? "",
    isActive: person.is_active,
  };
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
