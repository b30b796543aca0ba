const CORNERS = ["", "-5,-5 5,-5 5,5 -5,5", "0,-6.5 6.5,0 0,6.5 -6.5,0", "0,-6 6,5 -6,5", "0,6 6,-5 -6,-5"];

interface Props {
  series: number;
  x: number;
  y: number;
}

/** The sign of a series: its shape tells it as its colour does. */
export function Dot({ series, x, y }: Props) {
  const corners = CORNERS[series % CORNERS.length]!;
  const look = `dot series-${series % CORNERS.length}`;
  if (corners === "") return <circle className={look} cx={x} cy={y} r="5.5" />;
  return <polygon className={look} points={corners} transform={`translate(${x} ${y})`} />;
}

/** The series of a chart by their signs. */
export function Legend({ names }: { names: readonly string[] }) {
  return (
    <ul className="legend">
      {names.map((name, series) => (
        <li key={name}>
          <svg width="16" height="16" aria-hidden="true">
            <Dot series={series} x={8} y={8} />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}
