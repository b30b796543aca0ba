import { TableFrame } from "../parts/TableFrame";

interface Props {
  label: string;
  columns: readonly string[];
  rows: readonly (readonly (string | null)[])[];
  isCut: boolean;
}

/** A table of results: what is missing in it is withheld. */
export function FigureTable({ label, columns, rows, isCut }: Props) {
  return (
    <>
      <TableFrame label={label}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th scope="col" key={index}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) => (
                <td key={place}>{cell ?? <span className="quiet">left out</span>}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </TableFrame>
      {isCut && <p className="fine">There is more in it than is shown.</p>}
    </>
  );
}
