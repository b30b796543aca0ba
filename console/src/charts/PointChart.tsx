import { Dot, Legend } from "./Dot";
import { axisOf, placeOn, written, type Axis } from "./scale";
import { useWidth } from "./useWidth";

export interface Spread {
  value: number;
  low: number;
  high: number;
}

export interface ChartPoint {
  label: string;
  x: Spread;
  y: Spread;
  isMarked: boolean;
}

export interface Series {
  name: string;
  points: readonly ChartPoint[];
}

export interface Limit {
  name: string;
  value: number;
}

interface Props {
  label: string;
  x: string;
  y: string;
  series: readonly Series[];
  limits: readonly Limit[];
}

const HEIGHT = 360;
const LEFT = 56;
const RIGHT = 16;
const TOP = 28;
const BOTTOM = 44;
const WIDEST = 900;

interface Drawn {
  across: (value: number) => number;
  up: (value: number) => number;
}

/** Points on two axes, those of a series joined. A table beside it has to say the same in figures. */
export function PointChart({ label, x, y, series, limits }: Props) {
  const [element, measured] = useWidth();
  const width = Math.min(measured, WIDEST);
  const points = series.flatMap((one) => one.points);
  const xs = axisOf(points.flatMap((one) => [one.x.low, one.x.high]));
  const ys = axisOf([...points.flatMap((one) => [one.y.low, one.y.high]), ...limits.map((one) => one.value)]);
  const drawn: Drawn = {
    across: (value) => placeOn(xs, value, LEFT, width - RIGHT),
    up: (value) => placeOn(ys, value, HEIGHT - BOTTOM, TOP),
  };
  return (
    <figure className="chart" ref={element}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="img" aria-label={label}>
          <Grid xs={thinned(xs, width)} ys={ys} width={width} drawn={drawn} />
          {limits.map((limit) => (
            <LimitLine key={limit.name} limit={limit} width={width} drawn={drawn} />
          ))}
          {series.map((one, index) => (
            <Line key={one.name} series={one} index={index} drawn={drawn} />
          ))}
          <Labels points={points} width={width} drawn={drawn} />
          <text className="axis-name" x={width - RIGHT} y={HEIGHT - 6} textAnchor="end">
            {x}
          </text>
        </svg>
      )}
      <figcaption>
        <p className="fine">Upwards: {y}.</p>
        {series.length > 1 && <Legend names={series.map((one) => one.name)} />}
      </figcaption>
    </figure>
  );
}

/** On a narrow chart every other step alone is written. */
function thinned(axis: Axis, width: number): Axis {
  return width >= 400 ? axis : { ...axis, ticks: axis.ticks.filter((_, index) => index % 2 === 0) };
}

function Grid({ xs, ys, width, drawn }: { xs: Axis; ys: Axis; width: number; drawn: Drawn }) {
  return (
    <g className="grid">
      {ys.ticks.map((tick) => (
        <g key={tick}>
          <path d={`M${LEFT} ${drawn.up(tick)}H${width - RIGHT}`} />
          <text x={LEFT - 8} y={drawn.up(tick) + 4} textAnchor="end">
            {written(tick)}
          </text>
        </g>
      ))}
      {xs.ticks.map((tick) => (
        <text key={tick} x={drawn.across(tick)} y={HEIGHT - BOTTOM + 18} textAnchor="middle">
          {written(tick)}
        </text>
      ))}
    </g>
  );
}

function LimitLine({ limit, width, drawn }: { limit: Limit; width: number; drawn: Drawn }) {
  return (
    <g className="limit">
      <path d={`M${LEFT} ${drawn.up(limit.value)}H${width - RIGHT}`} />
      <text x={width - RIGHT} y={drawn.up(limit.value) - 5} textAnchor="end">
        {limit.name}
      </text>
    </g>
  );
}

function Line({ series, index, drawn }: { series: Series; index: number; drawn: Drawn }) {
  const { across, up } = drawn;
  const corners = series.points.map(({ x, y }) => `${across(x.value)} ${up(y.value)}`);
  return (
    <g>
      {corners.length > 1 && <path className={`line series-${index % 5}`} d={`M${corners.join("L")}`} />}
      {series.points.map((point, number) => (
        <g key={number}>
          <title>{`${[series.name, point.label].filter(Boolean).join(", ")}: ${written(point.x.value)}, ${written(point.y.value)}`}</title>
          <path
            className={`spread series-${index % 5}`}
            d={
              `M${across(point.x.value)} ${up(point.y.low)}V${up(point.y.high)}` +
              `M${across(point.x.low)} ${up(point.y.value)}H${across(point.x.high)}`
            }
          />
          {point.isMarked && <circle className="ring" cx={across(point.x.value)} cy={up(point.y.value)} r="11" />}
          <Dot series={index} x={across(point.x.value)} y={up(point.y.value)} />
        </g>
      ))}
    </g>
  );
}

/** The names of points, as far as there is room: those that are marked first. */
function Labels({ points, width, drawn }: { points: readonly ChartPoint[]; width: number; drawn: Drawn }) {
  const placed: { x: number; y: number }[] = [];
  const inOrder = [...points].sort((one, two) => Number(two.isMarked) - Number(one.isMarked));
  const shown = inOrder.flatMap((point) => {
    const [x, y] = [drawn.across(point.x.value), drawn.up(point.y.value) - 12];
    const isCrowded = placed.some((one) => Math.abs(one.x - x) < 56 && Math.abs(one.y - y) < 16);
    if (isCrowded || point.label === "") return [];
    placed.push({ x, y });
    const half = 4 * point.label.length;
    return [{ point, x: Math.min(Math.max(x, LEFT + half), width - RIGHT - half), y }];
  });
  return (
    <g className="labels">
      {shown.map(({ point, x, y }) => (
        <text key={`${x} ${y}`} x={x} y={y} textAnchor="middle" className={point.isMarked ? "marked" : ""}>
          {point.label}
        </text>
      ))}
    </g>
  );
}
