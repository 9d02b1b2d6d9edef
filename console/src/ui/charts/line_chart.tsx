/** Lines over one axis, each with the band of its interval if it has one. */
import { figure } from '../format';
import { Axes, MARGIN } from './axes';
import { Figure } from './figure';
import { extent, scale, type Kind, type Scale } from './scale';
import { useWidth } from './width';

export interface Point {
  x: number;
  /** Absent where there is no figure: the line has a gap there. */
  y: number | undefined;
  low?: number | undefined;
  high?: number | undefined;
}

export interface Line {
  name: string;
  /** Which of the colours and dashes of charts.css. */
  style: 'first' | 'second' | 'third';
  points: Point[];
  /** A line that keeps its value until the next point, as a choice does. */
  steps?: boolean;
}

interface AxisProps {
  label: string;
  kind?: Kind;
  /** Only whole numbers are written beside it: it counts something. */
  whole?: boolean;
}

interface LineChartProps {
  title: string;
  caption?: string;
  lines: Line[];
  x: AxisProps;
  y: AxisProps & { domain?: [number, number] };
  height?: number;
}

export function LineChart({ title, caption, lines, x, y, height = 240 }: LineChartProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const points = lines.flatMap((line) => line.points);
  const xs = extent(points.map((one) => one.x), x.kind);
  const ys = y.domain ?? extent(points.flatMap((one) => [one.y, one.low, one.high]), y.kind);
  return (
    <Figure
      title={title}
      {...(caption ? { caption } : {})}
      legend={lines.length > 1 && lines.map((line) => <Entry key={line.name} line={line} />)}
      table={{ columns: [x.label, ...lines.flatMap(columns)], rows: () => rows(lines) }}
    >
      <div ref={box} class="plot" style={{ height: `${height}px` }}>
        {width > 0 && xs && ys && (
          <svg width={width} height={height} role="img" aria-label={inWords(title, x.label, lines)}>
            <Plot {...{ lines, x, y, xs, ys, width, height }} />
          </svg>
        )}
      </div>
    </Figure>
  );
}

type PlotProps = Pick<LineChartProps, 'lines' | 'x' | 'y'> & {
  xs: [number, number];
  ys: [number, number];
  width: number;
  height: number;
};

function Plot({ lines, x, y, xs, ys, width, height }: PlotProps) {
  const across = written(x, scale(x.kind ?? 'linear', xs, [MARGIN.left, width - MARGIN.right]));
  const up = written(y, scale(y.kind ?? 'linear', ys, [height - MARGIN.bottom, MARGIN.top]));
  const [bottom, top] = up.range;
  // Log axes have no place for 0, and a fixed domain may leave figures out.
  const clamped = (value: number) => {
    const place = up.at(value);
    return Number.isFinite(place) ? Math.min(bottom, Math.max(top, place)) : bottom;
  };
  return (
    <>
      <Axes x={across} y={up} xLabel={x.label} yLabel={y.label} />
      {lines.map((line) =>
        pieces(line.points).map((piece, i) => (
          <g key={`${line.name} ${i}`} class={`line ${line.style}`}>
            <path class="band" d={band(piece, across.at, clamped)} />
            <path class="stroke" d={path(piece, across.at, clamped, line.steps ?? false)} />
            {piece.length === 1 && piece[0] && <circle cx={across.at(piece[0].x)} cy={clamped(piece[0].y)} r="3" />}
          </g>
        )),
      )}
    </>
  );
}

function written(axis: AxisProps, one: Scale): Scale {
  return axis.whole ? { ...one, ticks: one.ticks.filter(Number.isInteger) } : one;
}

type Place = (value: number) => number;
type Drawn = Point & { y: number };

/** The stretches of a line between its gaps. */
function pieces(points: Point[]): Drawn[][] {
  const found: Drawn[][] = [[]];
  for (const one of points) {
    if (one.y === undefined) found.push([]);
    else found.at(-1)?.push({ ...one, y: one.y });
  }
  return found.filter((piece) => piece.length);
}

function path(points: Drawn[], x: Place, y: Place, steps: boolean): string {
  const place = (one: Drawn, i: number) => {
    if (!i) return `M${x(one.x)},${y(one.y)}`;
    return steps ? `H${x(one.x)}V${y(one.y)}` : `L${x(one.x)},${y(one.y)}`;
  };
  return points.map(place).join('');
}

function band(points: Drawn[], x: Place, y: Place): string {
  const held = points.filter((one) => one.low !== undefined && one.high !== undefined);
  if (held.length < 2) return '';
  const there = held.map((one) => `${x(one.x)},${y(one.high ?? 0)}`);
  const back = held.map((one) => `${x(one.x)},${y(one.low ?? 0)}`).reverse();
  return `M${[...there, ...back].join('L')}Z`;
}

function Entry({ line }: { line: Line }) {
  return (
    <span>
      <svg width="28" height="10" aria-hidden="true" class={`line ${line.style}`}>
        <path class="stroke" d="M0,5H28" />
      </svg>{' '}
      {line.name}
    </span>
  );
}

/** The text in place of the picture: each line's first and last figure. */
function inWords(title: string, xLabel: string, lines: Line[]): string {
  const parts = lines.map((line) => {
    const known = line.points.filter((one) => one.y !== undefined);
    const [first, last] = [known[0], known.at(-1)];
    if (!first || !last) return `${line.name}: no figures yet`;
    return `${line.name}: ${figure(first.y)} at ${figure(first.x)}, ${figure(last.y)} at ${figure(last.x)}`;
  });
  return `${title} over ${xLabel}. ${parts.join('; ')}.`;
}

function hasBand(line: Line): boolean {
  return line.points.some((one) => one.low !== undefined);
}

function columns(line: Line): string[] {
  return hasBand(line) ? [line.name, `${line.name}, from`, `${line.name}, to`] : [line.name];
}

function rows(lines: Line[]): string[][] {
  const xs = [...new Set(lines.flatMap((line) => line.points.map((one) => one.x)))].sort((a, b) => a - b);
  return xs.map((x) => [
    figure(x, 4),
    ...lines.flatMap((line) => {
      const found = line.points.find((one) => one.x === x);
      const cells = hasBand(line) ? [found?.y, found?.low, found?.high] : [found?.y];
      return cells.map((one) => figure(one, 4));
    }),
  ]);
}
