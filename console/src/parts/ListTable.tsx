import type { ReactNode } from "react";
import { TableFrame } from "./TableFrame";

/** A column of a list: the first one names its row; `isUnnamed` has its name read aloud alone. */
export interface ListColumn<T> {
  name: string;
  cell: (item: T) => ReactNode;
  look?: "number" | "iri" | "nowrap";
  isUnnamed?: boolean;
}

interface Props<T> {
  label: string;
  items: readonly T[];
  keyOf: (item: T) => string | number;
  columns: readonly ListColumn<T>[];
}

/** A list of things of one kind, a row for each. */
export function ListTable<T>({ label, items, keyOf, columns }: Props<T>) {
  const [first, ...others] = columns;
  if (first === undefined) return null;
  return (
    <TableFrame label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" className={column.look}>
              {column.isUnnamed ? <span className="hidden">{column.name}</span> : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            <th scope="row" className={first.look}>
              {first.cell(item)}
            </th>
            {others.map((column) => (
              <td key={column.name} className={column.look}>
                {column.cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
