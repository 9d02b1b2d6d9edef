/** The distribution of a feature in the dataset as a small curve, with a mark at one value. */
import type { FeatureProfile } from '../../api/schema';
import { percent } from '../../ui/format';

const WIDTH = 96;
const HEIGHT = 26;
const BINS = 24;
// The tails beyond are left out, so that one far row does not press the rest together.
const TAIL = 0.005;

export function Spark({ profile, value }: { profile: FeatureProfile; value: number }) {
  const { points = [], shares = [] } = profile;
  if (points.length < 2) return null;
  const low = quantile(points, shares, TAIL);
  const high = quantile(points, shares, 1 - TAIL);
  const width = high - low;
  const below = shareBelow(points, shares, value);
  const name = `larger than ${percent(below)} of all rows`;
  if (!(width > 0)) return <span class="hint">constant</span>;
  const heights = Array.from({ length: BINS }, (_, bin) => {
    const [from, to] = [low + (width * bin) / BINS, low + (width * (bin + 1)) / BINS];
    return shareBelow(points, shares, to) - shareBelow(points, shares, from);
  });
  const tallest = Math.max(...heights, 1e-9);
  const steps = heights.map((height, bin) => {
    const [x, y] = [(WIDTH * bin) / BINS, HEIGHT - 2 - (HEIGHT - 4) * Math.sqrt(height / tallest)];
    return `L${x.toFixed(1)} ${y.toFixed(1)}L${(x + WIDTH / BINS).toFixed(1)} ${y.toFixed(1)}`;
  });
  const place = ((value - low) / width) * WIDTH;
  const x = Math.min(WIDTH - 1.5, Math.max(1.5, place));
  const outside = place < 0 ? 'left' : place > WIDTH ? 'right' : '';
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={name}>
      <title>{name}</title>
      <path class="shape" d={`M0 ${HEIGHT - 2}${steps.join('')}L${WIDTH} ${HEIGHT - 2}Z`} />
      {outside ? (
        <path class="mark" d={outside === 'left' ? 'M1 13l9 -6v12z' : `M${WIDTH - 1} 13l-9 -6v12z`} />
      ) : (
        <path class="mark line" d={`M${x.toFixed(1)} 0V${HEIGHT}`} />
      )}
    </svg>
  );
}

/** The share of rows up to a value, between the points in a straight line. */
export function shareBelow(points: readonly number[], shares: readonly number[], value: number): number {
  const next = points.findIndex((point) => point > value);
  if (next < 0) return 1;
  if (next === 0) return 0;
  const [left, right] = [points[next - 1] ?? 0, points[next] ?? 0];
  const [low, high] = [shares[next - 1] ?? 0, shares[next] ?? 0];
  return low + ((high - low) * (value - left)) / (right - left);
}

function quantile(points: readonly number[], shares: readonly number[], share: number): number {
  const next = shares.findIndex((one) => one >= share);
  if (next < 0) return points.at(-1) ?? 0;
  if (next === 0) return points[0] ?? 0;
  const [left, right] = [points[next - 1] ?? 0, points[next] ?? 0];
  const [low, high] = [shares[next - 1] ?? 0, shares[next] ?? 0];
  return high > low ? left + ((right - left) * (share - low)) / (high - low) : right;
}
