import { BASE } from "../api/client";
import { useGet } from "../api/loading";
import type { ReviewEvidence } from "../api/types";
import { Shown } from "../parts/states";
import { FigureTable } from "./FigureTable";

type OutputEvidence = ReviewEvidence["outputs"][number];

/** What is known of the outputs, with figures: never for who asked. */
export function Evidence({ path }: { path: string }) {
  const { loaded, reload } = useGet<ReviewEvidence>(`${path}/evidence`);
  return (
    <Shown loaded={loaded} what="the evidence" retry={reload}>
      {(evidence) => (
        <>
          {evidence.outputs.map((output) => (
            <OneEvidence key={output.name} output={output} path={path} />
          ))}
        </>
      )}
    </Shown>
  );
}

function OneEvidence({ output, path }: { output: OutputEvidence; path: string }) {
  const cells = cellsOf(output);
  const others = output.files.filter((file) => !file.endsWith(".csv"));
  return (
    <section className="panel">
      <h2>Evidence: {output.name}</h2>
      <p className="notice warn">These figures are for who decides, and not for who asked.</p>
      {output.held.length === 0 && <p>Nothing more may be let out than the rules do.</p>}
      {output.held.map((table) => (
        <div key={table.file}>
          <h3>If it is accepted</h3>
          <OneTable label={`If accepted: ${table.name}`} table={table} path={path} />
        </div>
      ))}
      {output.shown.map((table) => (
        <div key={table.file}>
          <h3>As it is by the rules</h3>
          <OneTable label={`By the rules: ${table.name}`} table={table} path={path} />
        </div>
      ))}
      {cells.length > 0 && (
        <details>
          <summary>Why cells are withheld, with figures</summary>
          <FigureTable label={`Cells of ${output.name}`} {...cellTable(cells)} isCut={false} />
        </details>
      )}
      {others.length > 0 && (
        <p className="actions">
          {others.map((file) => (
            <SaveFile key={file} file={file} path={path} />
          ))}
        </p>
      )}
    </section>
  );
}

interface TableProps {
  label: string;
  table: OutputEvidence["held"][number];
  path: string;
}

/** A table, or that it cannot be shown; its file where not all of it is here. */
function OneTable({ label, table, path }: TableProps) {
  const isUnreadable = table.is_unreadable ?? false;
  const isCut = table.is_cut ?? false;
  return (
    <>
      {isUnreadable ? (
        <p className="notice warn">The table {table.name} cannot be shown here: look at its file before you decide.</p>
      ) : (
        <FigureTable label={label} columns={table.columns} rows={table.rows} isCut={isCut} />
      )}
      {(isUnreadable || isCut) && (
        <p className="actions">
          <SaveFile file={table.file} path={path} />
        </p>
      )}
    </>
  );
}

function SaveFile({ file, path }: { file: string; path: string }) {
  const address = file.split("/").map(encodeURIComponent).join("/");
  return (
    <a className="button small" href={`${BASE}${path}/evidence/${address}`} download>
      Save {file}
    </a>
  );
}

interface Cell {
  column: string;
  keys: Record<string, unknown>;
  codes: string[];
  figures: Record<string, unknown>;
}

/** The cells that are withheld, as a folder says; what has another form is left out. */
function cellsOf(output: OutputEvidence): Cell[] {
  const listed = output.verdict["suppressed"];
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((one: unknown) => {
    if (!isObject(one)) return [];
    const codes = Array.isArray(one["codes"]) ? one["codes"].map(String) : [];
    const parts = Array.isArray(one["evidence"]) ? one["evidence"].filter(isObject) : [];
    const keys = isObject(one["keys"]) ? one["keys"] : {};
    return [{ column: String(one["column"]), keys, codes, figures: Object.assign({}, ...parts) as Record<string, unknown> }];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function cellTable(cells: readonly Cell[]): { columns: string[]; rows: string[][] } {
  const names = [...new Set(cells.flatMap((cell) => Object.keys(cell.figures)))];
  const columns = ["cell", "codes", ...names.map((name) => name.replaceAll("_", " "))];
  const rows = cells.map((cell) => [
    `${cell.column}: ${Object.values(cell.keys).map(String).join(", ") || "all"}`,
    cell.codes.join(" "),
    ...names.map((name) => figure(cell.figures[name])),
  ]);
  return { columns, rows };
}

function figure(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
}
