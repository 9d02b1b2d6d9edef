/** What a cut over the score means: which rows are outside, and how well that agrees with the labels. */

export type DetectorName = 'svdd' | 'refined';

/** The cut that a detector was made with. */
export const OWN_CUT: Record<DetectorName, number> = { svdd: 0, refined: 0.5 };

/** The SVDD calls outside what lies beyond its threshold, the refined detector also what is on it. */
export function isOutside(detector: DetectorName, score: number, cut: number): boolean {
  return detector === 'svdd' ? score > cut : score >= cut;
}

/** A labelled row: its score by the detector that is shown, and whether its label is "outlier". */
export interface Labelled {
  score: number;
  outlier: boolean;
}

/** Agreement of a cut with labels; a figure that is not defined is absent. */
export interface Agreement {
  kappa: number | undefined;
  /** Share of the labelled rows outside that are labelled outliers. */
  precision: number | undefined;
  /** Share of the labelled outliers that are outside. */
  recall: number | undefined;
}

export function agreement(labelled: readonly Labelled[], detector: DetectorName, cut: number): Agreement {
  let [hits, falls, misses, rests] = [0, 0, 0, 0];
  for (const { score, outlier } of labelled) {
    const outside = isOutside(detector, score, cut);
    if (outside && outlier) hits++;
    else if (outside) falls++;
    else if (outlier) misses++;
    else rests++;
  }
  const all = hits + falls + misses + rests;
  const [outside, outliers] = [hits + falls, hits + misses];
  const chance = (outside * outliers + (all - outside) * (all - outliers)) / all;
  return {
    kappa: all && chance < all ? (hits + rests - chance) / (all - chance) : undefined,
    precision: outside ? hits / outside : undefined,
    recall: outliers ? hits / outliers : undefined,
  };
}

/** Rows by score, the farthest outside first; among equals the first row. */
export function ranked(scores: Float64Array): Uint32Array {
  const order = Uint32Array.from(scores.keys());
  return order.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
}

/** How many of the ranked rows are outside at a cut. */
export function countOutside(
  scores: Float64Array,
  order: Uint32Array,
  detector: DetectorName,
  cut: number,
): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isOutside(detector, scores[order[middle] ?? 0] ?? 0, cut)) low = middle + 1;
    else high = middle;
  }
  return low;
}
