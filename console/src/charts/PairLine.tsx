import { Dot } from "./Dot";

interface Props {
  first: number | null;
  second: number | null;
  low: number;
  high: number;
}

const WIDTH = 240;
const HEIGHT = 24;
const EDGE = 9;

/** Two values of a figure on one line. Their table says them to who cannot see it. */
export function PairLine({ first, second, low, high }: Props) {
  const across = (value: number) => EDGE + ((value - low) / (high - low || 1)) * (WIDTH - 2 * EDGE);
  const middle = HEIGHT / 2;
  return (
    <svg className="pair" width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path className="pair-scale" d={`M${EDGE} ${middle}H${WIDTH - EDGE}`} />
      {first !== null && second !== null && (
        <path className="pair-gap" d={`M${across(first)} ${middle}H${across(second)}`} />
      )}
      {first !== null && <Dot series={0} x={across(first)} y={middle} />}
      {second !== null && <Dot series={1} x={across(second)} y={middle} />}
    </svg>
  );
}
