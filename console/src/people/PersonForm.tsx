import { useState, type FormEvent } from "react";
import { asRefusal } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Role } from "../api/types";
import { Field } from "../parts/Field";
import { Refused } from "../parts/states";
import { ROLES } from "./roles";

export interface PersonValues {
  name: string;
  roles: Role[];
  party: string;
  subject: string;
  isActive: boolean;
}

interface Props {
  values: PersonValues;
  isNew: boolean;
  save: (values: PersonValues) => Promise<void>;
  close: () => void;
}

export function PersonForm({ values: first, isNew, save, close }: Props) {
  const [values, setValues] = useState(first);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const set = (change: Partial<PersonValues>) => setValues((one) => ({ ...one, ...change }));

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    try {
      await save({ ...values, name: values.name.trim(), party: values.party.trim(), subject: values.subject.trim() });
    } catch (error) {
      setRefusal(asRefusal(error));
      setBusy(false);
    }
  }

  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      {isNew && (
        <label className="field">
          <span>Name</span>
          <input required maxLength={200} value={values.name} onChange={(event) => set({ name: event.target.value })} />
        </label>
      )}
      <fieldset>
        <legend>Roles</legend>
        {(Object.keys(ROLES) as Role[]).map((role) => (
          <label key={role} className="check">
            <input
              type="checkbox"
              checked={values.roles.includes(role)}
              onChange={(event) =>
                set({ roles: event.target.checked ? [...values.roles, role] : values.roles.filter((one) => one !== role) })
              }
            />
            <span>
              <strong>{ROLES[role].name}</strong> {ROLES[role].about}
            </span>
          </label>
        ))}
      </fieldset>
      <Field label="Identifier in policies" hint="The IRI by which policies call this person, as their assignee. May be empty.">
        {(given) => (
          <input
            {...given}
            type="url"
            placeholder="http://example.com/people/ada"
            value={values.party}
            onChange={(event) => set({ party: event.target.value })}
          />
        )}
      </Field>
      <Field
        label="Name at the provider"
        hint="How the provider of identities knows this person: a sub or a verified address. Without one, links alone let them in."
      >
        {(given) => (
          <input
            {...given}
            maxLength={255}
            autoComplete="off"
            value={values.subject}
            onChange={(event) => set({ subject: event.target.value })}
          />
        )}
      </Field>
      {!isNew && (
        <label className="check">
          <input type="checkbox" checked={values.isActive} onChange={(event) => set({ isActive: event.target.checked })} />
          <span>May sign in</span>
        </label>
      )}
      {refusal && <Refused refusal={refusal} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={isBusy}>
          {isNew ? "Add" : "Save"}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}
