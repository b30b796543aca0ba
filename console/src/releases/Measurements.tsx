import type { Measurement } from "../api/types";
import { TableFrame } from "../parts/TableFrame";
import { figure } from "./certificate";

/** Bounds, what each asks for, and what was measured. */
export function Measurements({ label, measurements }: { label: string; measurements: readonly Measurement[] }) {
  return (
    <TableFrame label={label}>
      <thead>
        <tr>
          <th scope="col">Bound</th>
          <th scope="col">Column</th>
          <th scope="col">Asked</th>
          <th scope="col">Measured</th>
        </tr>
      </thead>
      <tbody>
        {measurements.map((one) => (
          <tr key={`${one.bound} ${one.column}`}>
            <th scope="row">{one.bound}</th>
            <td>{one.column || <span className="quiet">all</span>}</td>
            <td>
              {one.sense} {figure(one.asked)}
            </td>
            <td>{figure(one.achieved)}</td>
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
