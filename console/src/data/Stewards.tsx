import { useState } from "react";
import { ask, asRefusal } from "../api/client";
import { useGet } from "../api/loading";
import type { Refusal } from "../api/problems";
import type { Steward } from "../api/types";
import { useMe } from "../app/session";
import { say } from "../parts/messages";
import { Refused, Shown } from "../parts/states";

/** The stewards, of whom an owner names those who work for them. */
export function Stewards() {
  const me = useMe();
  const { loaded, reload } = useGet<Steward[]>("/stewards");
  return (
    <section className="panel">
      <h2>Your stewards</h2>
      <p className="quiet">
        They upload your data, and plan and run what your policies ask for. Whom you do not name does nothing of that.
      </p>
      <Shown loaded={loaded} what="stewards" retry={reload}>
        {(stewards) => <Choosing stewards={stewards.filter((one) => one.id !== me.id)} changed={reload} />}
      </Shown>
    </section>
  );
}

function Choosing({ stewards, changed }: { stewards: readonly Steward[]; changed: () => void }) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [busy, setBusy] = useState("");

  async function name(steward: Steward): Promise<void> {
    setBusy(steward.id);
    setRefusal(null);
    try {
      await ask(steward.is_yours ? "DELETE" : "PUT", `/stewards/${encodeURIComponent(steward.id)}`);
      say(`${steward.name} ${steward.is_yours ? "does not work for you any more" : "works for you"}.`);
      changed();
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy("");
    }
  }

  if (stewards.length === 0) return <p className="quiet">Nobody else is a steward yet. Administrators say who is.</p>;
  return (
    <>
      {refusal && <Refused refusal={refusal} />}
      <div>
        {stewards.map((steward) => (
          <label key={steward.id} className="check">
            <input
              type="checkbox"
              checked={steward.is_yours}
              disabled={busy === steward.id}
              onChange={() => void name(steward)}
            />
            <span>{steward.name}</span>
          </label>
        ))}
      </div>
    </>
  );
}
