import type { MouseEvent } from "react";
import { navigate } from "../app/router";
import { lastPart } from "../parts/Name";

/** Something that data were made from, or that was made of them; `to` is its page, if there is one. */
export interface LineageNode {
  iri: string;
  note: string;
  to: string;
}

const WIDTH = 220;
const HEIGHT = 52;
const ACROSS = 300;
const DOWN = 68;
const MOST = 8;
const LONGEST = 26;

interface Placed extends LineageNode {
  x: number;
  y: number;
}

interface Props {
  iri: string;
  sources: readonly LineageNode[];
  made: readonly LineageNode[];
}

/** One hop of lineage from left to right. The list beside it says the same to who cannot see it. */
export function LineageGraph({ iri, sources, made }: Props) {
  const columns = [few(sources), [{ iri, note: "this", to: "" }], few(made)].filter((one) => one.length > 0);
  const tallest = Math.max(...columns.map((one) => one.length));
  const placed = columns.map((column, across) => column.map((node, down): Placed => {
    const above = ((tallest - column.length) * DOWN) / 2;
    return { ...node, x: 1 + across * ACROSS, y: 1 + above + down * DOWN };
  }));
  const width = (columns.length - 1) * ACROSS + WIDTH + 2;
  const height = (tallest - 1) * DOWN + HEIGHT + 2;
  return (
    <svg className="graph" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      {placed.slice(1).flatMap((column, before) =>
        column.flatMap((end) => placed[before]!.map((start) => (
          <path key={`${start.x} ${start.y} ${end.y}`} className="graph-line" d={arrow(start, end)} />
        ))),
      )}
      {placed.flat().map((node) => (
        <Box key={`${node.x} ${node.y}`} node={node} />
      ))}
    </svg>
  );
}

/** As many as are drawn, the last of them for all the others. */
function few(nodes: readonly LineageNode[]): LineageNode[] {
  if (nodes.length <= MOST) return [...nodes];
  return [...nodes.slice(0, MOST - 1), { iri: `${nodes.length - MOST + 1} more`, note: "in the list", to: "" }];
}

/** A line from the right side of a box to the left side of the next, with a head. */
function arrow(start: Placed, end: Placed): string {
  const [x, y] = [start.x + WIDTH, start.y + HEIGHT / 2];
  const [u, v] = [end.x - 2, end.y + HEIGHT / 2];
  const half = (x + u) / 2;
  return `M${x} ${y}C${half} ${y} ${half} ${v} ${u} ${v}m-8 -5l8 5l-8 5`;
}

function Box({ node }: { node: Placed }) {
  const name = lastPart(node.iri);
  const box = (
    <>
      <title>{node.iri}</title>
      <rect x={node.x} y={node.y} width={WIDTH} height={HEIGHT} rx="6" />
      <text x={node.x + 12} y={node.y + 22} className="graph-name">
        {name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name}
      </text>
      <text x={node.x + 12} y={node.y + 41} className="graph-note">
        {node.note}
      </text>
    </>
  );
  if (node.to === "") return <g className={node.note === "this" ? "graph-box this" : "graph-box"}>{box}</g>;
  function follow(event: MouseEvent): void {
    event.preventDefault();
    navigate(node.to);
  }
  return (
    <a href={node.to} tabIndex={-1} className="graph-box" onClick={follow}>
      {box}
    </a>
  );
}
