import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import { useGet } from "../api/loading";
import type { Dataset, Owner } from "../api/types";
import { Link, navigate } from "../app/router";
import { has, useMe } from "../app/session";
import { Field } from "../parts/Field";
import { Head } from "../parts/Head";
import { Refused } from "../parts/states";

export default function NewData() {
  const [name, setName] = useState("");
  const [iri, setIri] = useState("");
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const me = useMe();
  const { loaded } = useGet<Owner[]>("/owners");
  const owners = loaded.state === "ready" ? loaded.value : [];
  const [owner, setOwner] = useState(has(me, "owner") ? me.id : "");

  async function add(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    try {
      const dataset = await post<Dataset>("/datasets", { name: name.trim(), iri: iri.trim(), owner });
      navigate(`/data/${encodeURIComponent(dataset.id)}`, "replace");
    } catch (error) {
      setRefusal(asRefusal(error));
      setBusy(false);
    }
  }

  return (
    <>
      <Head title="Add data" about="A table that policies are about. Its file is uploaded next." />
      <form className="stack narrow" onSubmit={(event) => void add(event)}>
        <label className="field">
          <span>Name</span>
          <input
            required
            maxLength={200}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <Field
          label="Identifier"
          hint="What policies call it, as their target. A column is this, a slash, and its name."
        >
          {(given) => (
            <input
              {...given}
              required
              type="url"
              autoComplete="off"
              placeholder="http://example.com/Customer"
              value={iri}
              onChange={(event) => setIri(event.target.value)}
            />
          )}
        </Field>
        {(owners.length > 1 || !has(me, "owner")) && (
          <Field label="Owner" hint="Who answers for the data, and whose policies may be about them.">
            {(given) => (
              <select {...given} required value={owner} onChange={(event) => setOwner(event.target.value)}>
                <option value="">Choose</option>
                {owners.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          <button type="submit" className="primary" disabled={isBusy || name.trim() === ""}>
            Add
          </button>
          <Link className="button" to="/data">
            Cancel
          </Link>
        </div>
      </form>
    </>
  );
}
