/** Where values lie on an axis. */

export interface Axis {
  low: number;
  high: number;
  ticks: number[];
}

const STEPS = [1, 2, 2.5, 5, 10];
const PARTS = 5;

/** An axis from 0, or from the least value where that is less, in round steps. */
export function axisOf(values: readonly number[]): Axis {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const span = high - low || 1;
  const unit = 10 ** Math.floor(Math.log10(span / PARTS));
  const step = unit * STEPS.find((one) => one * unit * PARTS >= span * (1 - 1e-9))!;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { low: first * step, high: last * step, ticks };
}

export function placeOn(axis: Axis, value: number, from: number, to: number): number {
  return from + ((value - axis.low) / (axis.high - axis.low)) * (to - from);
}

/** A value as an axis and a table write it. */
export function written(value: number): string {
  return String(Number(value.toPrecision(4)));
}
