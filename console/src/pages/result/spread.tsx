/** How the scores of all rows are spread, with the labelled rows and the cut. */
import { figure } from '../../ui/format';
import { isOutside, type DetectorName, type Labelled } from './cut';

const BARS = 80;
const [WIDTH, HEIGHT, STRIP] = [800, 120, 36];

interface SpreadProps {
  detector: DetectorName;
  scores: Float64Array;
  labelled: Labelled[];
  cut: number;
  own: number;
  low: number;
  high: number;
}

export function Spread({ detector, scores, labelled, cut, own, low, high }: SpreadProps) {
  const counts = new Array<number>(BARS).fill(0);
  const size = (high - low) / BARS;
  for (const score of scores) {
    const bar = Math.min(BARS - 1, Math.max(0, Math.floor((score - low) / size)));
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  // Few rows are outside: by the root their bars can be seen beside those of the many.
  const tallest = Math.sqrt(Math.max(...counts, 1));
  const x = (score: number) => ((score - low) / (high - low)) * WIDTH;
  const at = Math.min(WIDTH, Math.max(0, x(cut)));
  return (
    <figure class="spread">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + STRIP}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={
          `Spread of the scores of ${scores.length} rows from ${figure(low)} to ${figure(high)}; ` +
          `the cut is at ${figure(cut)}, the model's own at ${figure(own)}.`
        }
      >
        {counts.map((count, i) => {
          const height = (Math.sqrt(count) / tallest) * HEIGHT;
          const outside = isOutside(detector, low + (i + 0.5) * size, cut);
          return (
            <rect
              key={i}
              class={outside ? 'outside' : 'inside'}
              x={(i * WIDTH) / BARS + 0.5}
              width={WIDTH / BARS - 1}
              y={HEIGHT - height}
              height={height}
            />
          );
        })}
        {labelled.map(({ score, outlier }, i) => {
          const y = HEIGHT + (outlier ? 12 : 26);
          return (
            <line key={i} class={outlier ? 'outlier' : 'inlier'} x1={x(score)} x2={x(score)} y1={y - 6} y2={y + 6} />
          );
        })}
        <line class="own" x1={x(own)} x2={x(own)} y1="0" y2={HEIGHT + STRIP} />
        <line class="at" x1={at} x2={at} y1="0" y2={HEIGHT + STRIP} />
      </svg>
      <figcaption class="hint">
        Rows by score, farther outside to the right; heights grow with the root of the count. Below them the labelled
        rows: <span class="key outlier">outliers</span> above <span class="key inlier">inliers</span>. The solid line
        is the cut, the dashed one the model's own.
      </figcaption>
    </figure>
  );
}
