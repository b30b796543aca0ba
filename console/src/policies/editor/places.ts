/** Places in a text, as the service counts them (lines and characters from 1), in an editor's text. */

import { syntaxTree } from "@codemirror/language";
import type { EditorState, Text } from "@codemirror/state";
import type { Fix, Problem, Spot } from "../../api/problems";

/** The offset of a place; characters beyond U+FFFF are two units of an editor, and one column. */
export function offsetAt(doc: Text, spot: Spot): number {
  if (spot.line < 1) return 0;
  if (spot.line > doc.lines) return doc.length;
  const line = doc.line(spot.line);
  const characters = [...line.text].slice(0, Math.max(0, spot.column - 1));
  return line.from + characters.join("").length;
}

/** The range to underline: the token that begins there, or the rest of the word. */
export function rangeOf(state: EditorState, problem: Problem): { from: number; to: number } {
  const from = offsetAt(state.doc, problem);
  const end = state.doc.lineAt(from).to;
  const node = syntaxTree(state).resolveInner(from, 1);
  if (node.from === from && node.to > from && node.name !== "JsonText") {
    return { from, to: Math.min(node.to, end) };
  }
  const word = /^\s*[^\s,]+/.exec(state.doc.sliceString(from, end));
  return { from, to: from + Math.max(word?.[0].length ?? 0, from < end ? 1 : 0) };
}

export function changeOf(doc: Text, fix: Fix): { from: number; to: number; insert: string } {
  return { from: offsetAt(doc, fix.start), to: offsetAt(doc, fix.end), insert: fix.text };
}
