/** Points in a plane, some of them marked by shape and colour, with the line that divides them. */
import { useMemo, useState } from 'preact/hooks';
import { figure } from '../format';
import { Axes, MARGIN } from './axes';
import { Figure, type Table } from './figure';
import { extent, scale } from './scale';
import { zeroLine } from './smooth';
import { useWidth } from './width';

export type Shape = 'inlier' | 'outlier' | 'unsure';

export interface Dot {
  x: number;
  y: number;
  /** Positive is outside; absent if it is not known. */
  margin: number | undefined;
}

/** How each dot is marked; absent for one of the many. */
export type Marks = (Shape | undefined)[];

interface ScatterProps {
  title: string;
  caption: string;
  /** They change seldom: what is computed from them is kept while they stay the same array. */
  dots: Dot[];
  marks: Marks;
  /** What is said of a dot when it is pointed at. */
  say: (index: number) => string;
  xLabel: string;
  yLabel: string;
  table: Table;
  height?: number;
}

const SHAPES: Shape[] = ['inlier', 'outlier', 'unsure'];
const PATHS: Record<Shape | 'inside' | 'outside' | 'unknown', string> = {
  inlier: 'm-5,0a5,5,0,1,0,10,0a5,5,0,1,0,-10,0z',
  outlier: 'm0,-6.5l6,11h-12z',
  unsure: 'm-4.5,-4.5h9v9h-9z',
  inside: 'm-2,0a2,2,0,1,0,4,0a2,2,0,1,0,-4,0z',
  outside: 'm-2.5,-2.5l5,5m0,-5l-5,5',
  unknown: 'm-1.5,0h3',
};

export function Scatter({ title, caption, dots, marks, say, xLabel, yLabel, table, height = 460 }: ScatterProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<number>();
  const placed = useMemo(() => place(dots, width, height), [dots, width, height]);
  const picture = useMemo(
    () => placed && <Picture placed={placed} marks={marks} xLabel={xLabel} yLabel={yLabel} />,
    [placed, marks, xLabel, yLabel],
  );
  const marked = marks.flatMap((one, i) => (one ? [i] : []));
  const step = (by: number) => {
    const k = at === undefined ? -1 : marked.indexOf(at);
    setAt(marked[(k + by + marked.length + (k < 0 && by < 0 ? 1 : 0)) % marked.length]);
  };
  const pointed = at === undefined ? undefined : placed?.dots[at];
  return (
    <Figure title={title} caption={caption} table={table} legend={<Legend dots={dots} marks={marks} />}>
      <div
        ref={box}
        class="plot"
        style={{ height: `${height}px` }}
        tabIndex={0}
        role="group"
        aria-label={`${title}: the arrow keys go through the marked rows`}
        onKeyDown={(event) => {
          const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
          if (!by || !marked.length) return;
          event.preventDefault();
          step(by);
        }}
        onPointerMove={(event) => {
          const corner = event.currentTarget.getBoundingClientRect();
          setAt(placed && nearest(placed.dots, marks, event.clientX - corner.left, event.clientY - corner.top));
        }}
        onPointerLeave={() => setAt(undefined)}
        onBlur={() => setAt(undefined)}
      >
        {placed && (
          <svg width={width} height={height} role="img" aria-label={inWords(title, dots, marks)}>
            {picture}
            {pointed && <circle class="pointed" cx={pointed.x} cy={pointed.y} r="10" />}
          </svg>
        )}
      </div>
      <p class="said" role="status">
        {at === undefined ? '' : say(at)}
      </p>
    </Figure>
  );
}

interface Placed {
  dots: Dot[];
  /** Outline of the inside; empty where it is not known. */
  line: string;
  x: ReturnType<typeof scale>;
  y: ReturnType<typeof scale>;
}

/** The dots in pixels. */
function place(dots: Dot[], width: number, height: number): Placed | undefined {
  const xs = extent(dots.map((one) => one.x));
  const ys = extent(dots.map((one) => one.y));
  if (!width || !xs || !ys) return undefined;
  const x = scale('linear', wider(xs), [MARGIN.left, width - MARGIN.right]);
  const y = scale('linear', wider(ys), [height - MARGIN.bottom, MARGIN.top]);
  const inPixels = dots.map((one) => ({ ...one, x: x.at(one.x), y: y.at(one.y) }));
  const known = inPixels.flatMap((one) =>
    one.margin === undefined ? [] : [{ x: one.x - MARGIN.left, y: one.y - MARGIN.top, value: one.margin }],
  );
  const line = known.length
    ? zeroLine(known, width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom)
    : '';
  return { dots: inPixels, line, x, y };
}

function wider([low, high]: [number, number]): [number, number] {
  const more = 0.04 * (high - low);
  return [low - more, high + more];
}

interface PictureProps {
  placed: Placed;
  marks: Marks;
  xLabel: string;
  yLabel: string;
}

/** All that does not change while somebody points: a few paths, however many dots there are. */
function Picture({ placed, marks, xLabel, yLabel }: PictureProps) {
  const path = (kind: keyof typeof PATHS) =>
    placed.dots
      .filter((one, i) => kindOf(one, marks[i]) === kind)
      .map((one) => `M${one.x.toFixed(1)},${one.y.toFixed(1)}${PATHS[kind]}`)
      .join('');
  return (
    <>
      <Axes x={placed.x} y={placed.y} xLabel={xLabel} yLabel={yLabel} grid={false} />
      <path class="boundary" transform={`translate(${MARGIN.left},${MARGIN.top})`} d={placed.line} />
      {(['unknown', 'inside', 'outside'] as const).map((kind) => (
        <path key={kind} class={`dot ${kind}`} d={path(kind)} />
      ))}
      {SHAPES.map((kind) => (
        <path key={kind} class={`dot ${kind}`} d={path(kind)} />
      ))}
    </>
  );
}

function kindOf(one: Dot, mark: Shape | undefined): keyof typeof PATHS {
  if (mark) return mark;
  if (one.margin === undefined) return 'unknown';
  return one.margin > 0 ? 'outside' : 'inside';
}

const NAMES: Record<keyof typeof PATHS, string> = {
  inlier: 'labelled inlier',
  outlier: 'labelled outlier',
  unsure: 'unsure or tied',
  inside: 'inside',
  outside: 'outside',
  unknown: 'not labelled',
};

function counted(dots: Dot[], marks: Marks): [keyof typeof PATHS, number][] {
  const counts = new Map<keyof typeof PATHS, number>();
  for (const [i, one] of dots.entries()) {
    const kind = kindOf(one, marks[i]);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const order = Object.keys(NAMES) as (keyof typeof PATHS)[];
  return order.flatMap((kind) => (counts.has(kind) ? [[kind, counts.get(kind) ?? 0]] : []));
}

function Legend({ dots, marks }: { dots: Dot[]; marks: Marks }) {
  return (
    <>
      {counted(dots, marks).map(([kind, count]) => (
        <span key={kind}>
          <svg width="16" height="16" aria-hidden="true">
            <path class={`dot ${kind}`} d={`M8,8${PATHS[kind]}`} />
          </svg>{' '}
          {NAMES[kind]} ({count})
        </span>
      ))}
    </>
  );
}

function inWords(title: string, dots: Dot[], marks: Marks): string {
  return `${title}: ${counted(dots, marks).map(([kind, count]) => `${count} ${NAMES[kind]}`).join(', ')}.`;
}

/** The dot that is pointed at, if one is near. */
function nearest(dots: Dot[], marks: Marks, x: number, y: number): number | undefined {
  let [found, best]: [number | undefined, number] = [undefined, 16 ** 2];
  dots.forEach((one, i) => {
    // A marked dot is wanted rather than one of the many beside it.
    const distance = (one.x - x) ** 2 + (one.y - y) ** 2 - (marks[i] ? 30 : 0);
    if (distance < best) [found, best] = [i, distance];
  });
  return found;
}

/** A margin in words. */
export function side(margin: number | undefined): string {
  if (margin === undefined) return 'not known';
  return `${margin > 0 ? 'outside' : 'inside'} by ${figure(Math.abs(margin), 3)}`;
}
