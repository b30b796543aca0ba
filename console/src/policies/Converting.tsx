import { useState } from "react";
import { asRefusal, post } from "../api/client";
import type { Refusal } from "../api/problems";
import type { ConvertedText } from "../api/types";
import { say } from "../parts/messages";
import { Refused } from "../parts/states";

const SYNTAXES: Record<ConvertedText["syntax"], string> = {
  "json-ld": "JSON-LD",
  turtle: "Turtle",
  "n-triples": "N-Triples",
  "rdf-xml": "RDF/XML",
  yaml: "YAML (the short form)",
};

/** The text that is written now, in another syntax, to be copied. */
export function Converting({ text }: { text: string }) {
  const [syntax, setSyntax] = useState<ConvertedText["syntax"]>("turtle");
  const [converted, setConverted] = useState<{ of: string; answer: ConvertedText } | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  async function convert(): Promise<void> {
    setRefusal(null);
    try {
      setConverted({ of: text, answer: await post<ConvertedText>("/policies:convert", { text, to: syntax }) });
    } catch (error) {
      setConverted(null);
      setRefusal(asRefusal(error));
    }
  }
  return (
    <section className="panel">
      <h2>In another syntax</h2>
      <div className="actions">
        <label>
          <span className="hidden">Syntax</span>
          <select value={syntax} onChange={(event) => setSyntax(event.target.value as ConvertedText["syntax"])}>
            {Object.entries(SYNTAXES).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void convert()}>
          Convert
        </button>
      </div>
      {refusal && <Refused refusal={refusal} />}
      {converted && <Shown of={converted.of} answer={converted.answer} text={text} />}
    </section>
  );
}

interface ShownProps {
  of: string;
  answer: ConvertedText;
  text: string;
}

function Shown({ of, answer, text }: ShownProps) {
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(answer.text);
    say("The text is copied.");
  }
  return (
    <>
      <pre className="converted" tabIndex={0} role="region" aria-label={`The policy in ${SYNTAXES[answer.syntax]}`}>
        {answer.text}
      </pre>
      {of !== text && <p className="fine">Of the text before the last changes.</p>}
      <div className="actions">
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
      </div>
    </>
  );
}
