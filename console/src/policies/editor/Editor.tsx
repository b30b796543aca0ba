import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useImperativeHandle, useRef, type Ref } from "react";
import type { Problem } from "../../api/problems";
import { fixName } from "../../parts/ProblemList";
import { look } from "./look";
import { changeOf, rangeOf } from "./places";

export interface EditorHandle {
  go: (problem: Problem) => void;
  mend: (problem: Problem) => void;
}

interface Props {
  label: string;
  text: string;
  readOnly: boolean;
  problems: readonly Problem[];
  hints: readonly Problem[];
  onChange: (text: string) => void;
  onSave: () => void;
  ref?: Ref<EditorHandle>;
}

/** The text of a policy, with what is wrong underlined; `text` counts once, when it is mounted. */
export function Editor({ label, text, readOnly, problems, hints, onChange, onSave, ref }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const calls = useRef({ onChange, onSave });
  useEffect(() => {
    calls.current = { onChange, onSave };
  });

  useEffect(() => {
    if (host.current === null) return;
    const made = new EditorView({
      parent: host.current,
      doc: text,
      extensions: [
        ...behaviour(label, readOnly),
        saving(() => calls.current.onSave()),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) calls.current.onChange(update.state.doc.toString());
        }),
      ],
    });
    made.scrollDOM.tabIndex = 0;
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
    // The editor keeps its own text; it is made anew where a `key` says so.
  }, [label, readOnly]);

  useEffect(() => {
    const there = view.current;
    if (there === null) return;
    const marks = [
      ...problems.map((one) => markOf(there.state, one, "error")),
      ...hints.map((one) => markOf(there.state, one, "warning")),
    ];
    there.dispatch(setDiagnostics(there.state, marks));
  }, [problems, hints]);

  useImperativeHandle(ref, () => ({
    go: (problem) => {
      if (view.current) goTo(view.current, problem);
    },
    mend: (problem) => {
      if (view.current) mend(view.current, problem);
    },
  }));

  return <div className="editor" ref={host} />;
}

function behaviour(label: string, readOnly: boolean): Extension[] {
  return [
    look,
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    indentUnit.of("  "),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    json(),
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
    overwriting,
    // Tab is left alone: it leads out of the editor, as it does everywhere.
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap]),
  ];
}

/**
 * What is typed over a selection is put in its place by the editor itself: Chromium would keep the
 * colours of the selection in a style attribute, which the page's security policy forbids.
 */
const overwriting: Extension = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || view.composing) return false;
    if (view.state.readOnly || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

function saving(save: () => void): Extension {
  const run = () => {
    save();
    return true;
  };
  return keymap.of([{ key: "Mod-s", run, preventDefault: true }]);
}

function markOf(state: EditorState, problem: Problem, severity: "error" | "warning"): Diagnostic {
  const words = [problem.message, problem.hint].filter(Boolean).join(" ");
  const mark: Diagnostic = { ...rangeOf(state, problem), severity, message: `${problem.code}  ${words}` };
  if (!problem.fix) return mark;
  return { ...mark, actions: [{ name: fixName(problem), apply: (view) => mend(view, problem) }] };
}

function goTo(view: EditorView, problem: Problem): void {
  const { from, to } = rangeOf(view.state, problem);
  view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
  view.focus();
}

function mend(view: EditorView, problem: Problem): void {
  if (!problem.fix || view.state.readOnly) return;
  view.dispatch({ changes: changeOf(view.state.doc, problem.fix), userEvent: "input.fix", scrollIntoView: true });
  view.focus();
}
