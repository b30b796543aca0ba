import { useState, type FormEvent } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { Policy } from "../api/types";
import { Link, navigate, useQuery } from "../app/router";
import { Field } from "../parts/Field";
import { Head } from "../parts/Head";
import { Refused } from "../parts/states";
import { iriFor, renamed, TEMPLATES, textOf } from "./templates";

export default function NewPolicy() {
  const asked = useQuery().get("template");
  const [chosen, setChosen] = useState(TEMPLATES.find((one) => one.file === asked) ?? TEMPLATES[0]!);
  const [name, setName] = useState("");
  const [iri, setIri] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const shownIri = iri ?? iriFor(name);

  async function create(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    try {
      const text = renamed(await textOf(chosen), shownIri);
      const policy = await post<Policy>("/policies", { name: name.trim(), text });
      navigate(`/policies/${encodeURIComponent(policy.id)}`, "replace");
    } catch (error) {
      setRefusal(asRefusal(error));
      setBusy(false);
    }
  }

  return (
    <>
      <Head title="New policy" about="Everything can be changed afterwards, and nothing counts until it is published." />
      <form className="stack narrow" onSubmit={(event) => void create(event)}>
        <label className="field">
          <span>Name</span>
          <input
            required
            maxLength={200}
            value={name}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
            placeholder="Customers for marketing"
          />
        </label>
        <Field label="Identifier" hint="An address of your own that no other policy has. It need not lead anywhere.">
          {(given) => (
            <input
              {...given}
              required
              type="url"
              value={shownIri}
              autoComplete="off"
              onChange={(event) => setIri(event.target.value)}
            />
          )}
        </Field>
        <fieldset>
          <legend>Begin with</legend>
          <ul className="cards choice">
            {TEMPLATES.map((template) => (
              <li key={template.file}>
                <label>
                  <input
                    type="radio"
                    name="template"
                    checked={template.file === chosen.file}
                    onChange={() => setChosen(template)}
                  />
                  <strong>{template.name}</strong>
                </label>
                <p>{template.about}</p>
              </li>
            ))}
          </ul>
        </fieldset>
        {refusal && <Refused refusal={refusal} />}
        <div className="actions">
          <button type="submit" className="primary" disabled={isBusy || name.trim() === ""}>
            {isBusy ? "Creating …" : "Create draft"}
          </button>
          <Link className="button" to="/policies">
            Cancel
          </Link>
        </div>
      </form>
    </>
  );
}
