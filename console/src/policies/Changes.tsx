import { json } from "@codemirror/lang-json";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { get } from "../api/client";
import { useGet, useLoading } from "../api/loading";
import type { Change, Comparison, Policy, VersionText } from "../api/types";
import { Badge, type Tone } from "../parts/Badge";
import { Name } from "../parts/Name";
import { Shown } from "../parts/states";
import { look } from "./editor/look";

interface Props {
  policy: Policy;
  version: number;
  text: string;
  isSaved: boolean;
}

/** What differs from the version in force, in meaning and in the text. */
export default function Changes({ policy, version, text, isSaved }: Props) {
  const published = policy.published_version;
  return (
    <section className="panel">
      <h2>{published == null ? "Changes" : `Changes since version ${published}`}</h2>
      {published == null ? (
        <p className="quiet">No version is in force yet, so there is nothing to compare with.</p>
      ) : published === version && isSaved ? (
        <p className="quiet">This is the version in force.</p>
      ) : (
        <>
          {isSaved ? (
            <InMeaning id={policy.id} from={published} to={version} />
          ) : (
            <p className="quiet">What the changes mean is said once the draft is saved.</p>
          )}
          <InText id={policy.id} published={published} text={text} />
        </>
      )}
    </section>
  );
}

function InMeaning({ id, from, to }: { id: string; from: number; to: number }) {
  const { loaded, reload } = useGet<Comparison>(`/policies/${encodeURIComponent(id)}:diff?from=${from}&to=${to}`);
  return (
    <Shown loaded={loaded} what="what the changes mean" retry={reload}>
      {(comparison) => (
        <>
          <Tendency tendency={tendencyOf(comparison.changes)} />
          <ul className="changes">
            {comparison.changes.map((change, index) => (
              <OneChange key={index} change={change} />
            ))}
          </ul>
          {comparison.notes.map((note, index) => (
            <p key={index} className="fine">
              {note}
            </p>
          ))}
        </>
      )}
    </Shown>
  );
}

/** What all changes together may do to what is permitted. */
export function tendencyOf(changes: readonly Change[]): string {
  const all = new Set(changes.map((change) => change.tendency));
  const widens = all.has("widens") || all.has("either");
  const narrows = all.has("narrows") || all.has("either");
  if (widens) return narrows ? "either" : "widens";
  return narrows ? "narrows" : "neither";
}

function Tendency({ tendency }: { tendency: string }) {
  return (
    <p>
      <Badge tone={TONES[tendency] ?? "quiet"}>{SHORT[tendency]}</Badge> {TENDENCIES[tendency]}
    </p>
  );
}

const SHORT: Record<string, string> = { widens: "wider", narrows: "narrower", either: "both ways", neither: "the same" };
const TONES: Record<string, Tone> = { widens: "warn", narrows: "good", either: "warn", neither: "quiet" };
const TENDENCIES: Record<string, string> = {
  widens: "More may be permitted than before.",
  narrows: "Less may be permitted than before.",
  either: "Some requests may be permitted that were not, and others no longer.",
  neither: "The same requests are permitted as before.",
};

function OneChange({ change }: { change: Change }) {
  return (
    <li>
      <strong>{change.what}</strong> in <Name iri={change.rule || change.policy} />
      {(change.before || change.after) && (
        <>
          : <del>{change.before || "nothing"}</del> → <ins>{change.after || "nothing"}</ins>
        </>
      )}
    </li>
  );
}

function InText({ id, published, text }: { id: string; published: number; text: string }) {
  const path = `/policies/${encodeURIComponent(id)}/versions/${published}`;
  const { loaded, reload } = useLoading(path, async (signal) => (await get<VersionText>(path, signal)).text);
  return (
    <Shown loaded={loaded} what="the text in force" retry={reload}>
      {(original) =>
        original === text ? (
          <p className="quiet">The text is the same.</p>
        ) : (
          <details open>
            <summary>Changes of the text</summary>
            <TextChanges original={original} text={text} />
          </details>
        )
      }
    </Shown>
  );
}

function TextChanges({ original, text }: { original: string; text: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return;
    const view = new EditorView({
      parent: host.current,
      doc: text,
      extensions: [
        look,
        lineNumbers(),
        json(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ "aria-label": "Changes of the text" }),
        unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 2, minSize: 4 } }),
      ],
    });
    view.scrollDOM.tabIndex = 0;
    return () => view.destroy();
  }, [original, text]);
  return <div className="editor comparison" ref={host} />;
}
