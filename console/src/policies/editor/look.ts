/** The colours of the editor: those of the page, which are light or dark. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const frame = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--surface)",
    fontSize: "13.5px",
    maxHeight: "var(--editor-height, 70vh)",
    minHeight: "12rem",
  },
  "&.cm-focused": { outline: "3px solid var(--focus)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-scroller:focus-visible": { outline: "3px solid var(--focus)", outlineOffset: "-3px" },
  ".cm-content": { caretColor: "var(--ink)" },
  "&.cm-focused .cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "light-dark(#cfe5e7, #2a4a52)",
  },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "var(--sunken)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(#0f5c660f, #7fd0d612)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--accent-soft)",
    outline: "1px solid var(--accent)",
  },
  ".cm-tooltip, .cm-panels": {
    color: "var(--ink)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-panels": { border: "0", borderTop: "1px solid var(--line)" },
  ".cm-tooltip-lint, .cm-tooltip .cm-diagnostic": { maxWidth: "38rem" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", fontSize: "14px", padding: "6px 10px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--warn)" },
  ".cm-diagnosticAction": {
    color: "#fff",
    backgroundColor: "var(--accent-ground)",
    padding: "3px 9px",
    borderRadius: "4px",
    fontSize: "13px",
  },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad) 1.5px",
    textUnderlineOffset: "3px",
    backgroundColor: "var(--bad-soft)",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--warn) 1.5px",
    textUnderlineOffset: "3px",
  },
  ".cm-lint-marker": { width: "0.7em", height: "0.7em", marginTop: "0.35em", borderRadius: "50%", content: "none" },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)", content: "none" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--warn)", content: "none" },
  ".cm-foldPlaceholder": { color: "var(--quiet)", backgroundColor: "var(--sunken)", border: "1px solid var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)" },
  ".cm-button": { color: "var(--ink)", backgroundImage: "none", backgroundColor: "var(--sunken)", border: "1px solid var(--line-strong)" },
  ".cm-changedLine": { backgroundColor: "var(--good-soft)" },
  ".cm-changedText": { background: "light-dark(#b9e3c6, #265a3a)" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft)" },
  ".cm-deletedChunk .cm-deletedText": { background: "light-dark(#f6c4be, #7a302a)" },
  ".cm-collapsedLines": { color: "var(--quiet)", background: "var(--sunken)", cursor: "pointer" },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: "none" },
});

const tokens = HighlightStyle.define([
  { tag: tags.propertyName, color: "light-dark(#0b4f78, #94c9ef)" },
  { tag: tags.string, color: "light-dark(#1c5c3b, #9bd7af)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#8a3b00, #f0b27a)" },
  { tag: [tags.separator, tags.squareBracket, tags.brace], color: "var(--quiet)" },
]);

/** The page's security policy allows the styles that editors make only with its nonce. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";

export const look: Extension = [EditorView.cspNonce.of(nonce), frame, syntaxHighlighting(tokens)];
