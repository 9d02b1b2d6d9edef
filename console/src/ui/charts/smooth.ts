/** A smooth surface through scattered values, and the line on which it is zero. */
import { contours } from 'd3-contour';

export interface Place {
  x: number;
  y: number;
  value: number;
}

// Cells along the longer side of the plot.
const CELLS = 72;
// Of the plot's longer side: how far a value reaches.
const REACH = 0.035;
// A place without values near it is as far outside as the rows that are farthest outside; this is the weight of that.
const EMPTY_WEIGHT = 0.02;

/** The outline of the places where the smoothed values are at most zero, as an SVG path in pixels.
 * Places in pixels, with positive values outside; where there are none, the surface is positive.
 */
export function zeroLine(places: Place[], width: number, height: number): string {
  const cell = Math.max(width, height) / CELLS;
  const [columns, rows] = [Math.ceil(width / cell), Math.ceil(height / cell)];
  const outer = Math.max(1e-9, ...places.map((one) => one.value));
  const weights = new Float64Array(columns * rows).fill(EMPTY_WEIGHT);
  const sums = new Float64Array(columns * rows).fill(EMPTY_WEIGHT * outer);
  const reach = (REACH * Math.max(width, height)) / cell;
  for (const one of places) {
    const [x, y] = [one.x / cell - 0.5, one.y / cell - 0.5];
    for (let j = Math.max(0, Math.ceil(y - 3 * reach)); j <= Math.min(rows - 1, y + 3 * reach); j++) {
      for (let i = Math.max(0, Math.ceil(x - 3 * reach)); i <= Math.min(columns - 1, x + 3 * reach); i++) {
        const weight = Math.exp(-((i - x) ** 2 + (j - y) ** 2) / (2 * reach ** 2));
        const k = j * columns + i;
        weights[k] = (weights[k] ?? 0) + weight;
        sums[k] = (sums[k] ?? 0) + weight * one.value;
      }
    }
  }
  // (Contours enclose values above the threshold; inside is below.)
  const surface = Array.from(sums, (sum, k) => -sum / (weights[k] ?? 1));
  const [found] = contours().size([columns, rows]).thresholds([0])(surface);
  const rings = found?.coordinates.flat() ?? [];
  const at = (value: number | undefined) => ((value ?? 0) * cell).toFixed(1);
  return rings.map((ring) => `M${ring.map(([x, y]) => `${at(x)},${at(y)}`).join('L')}Z`).join('');
}
