/** Cells over two log axes, coloured by a value; the heights of the cells may differ from column to column. */
import { useMemo, useState } from 'preact/hooks';
import { figure } from '../format';
import { Axes, MARGIN } from './axes';
import { colourOf } from './colour';
import { Figure, type Table } from './figure';
import { extent, scale } from './scale';
import { useWidth } from './width';

export interface Cell {
  x: number;
  y: number;
  value: number;
  /** Outlined. */
  leading: boolean;
  /** Marked by a star. */
  best: boolean;
  /** What is said of it when it is pointed at. */
  text: string;
}

interface HeatMapProps {
  title: string;
  caption: string;
  /** Columns of cells, by ascending x; in each the cells by ascending y. */
  columns: Cell[][];
  /** The values that are darkest and lightest. */
  domain: [number, number];
  xLabel: string;
  yLabel: string;
  valueLabel: string;
  table: Table;
  height?: number;
}

export function HeatMap(props: HeatMapProps) {
  const { title, caption, columns, domain, xLabel, yLabel, valueLabel, table, height = 380 } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const [said, setSaid] = useState('');
  const picture = useMemo(
    () => width > 0 && <Cells {...{ columns, domain, xLabel, yLabel, width, height, say: setSaid }} />,
    [columns, domain, width, height],
  );
  return (
    <Figure title={title} caption={caption} table={table} legend={<Legend domain={domain} label={valueLabel} />}>
      <div ref={box} class="plot" style={{ height: `${height}px` }} onPointerLeave={() => setSaid('')}>
        {width > 0 && (
          <svg width={width} height={height} role="img" aria-label={inWords(props)}>
            {picture}
          </svg>
        )}
      </div>
      <p class="said">{said}</p>
    </Figure>
  );
}

type CellsProps = Pick<HeatMapProps, 'columns' | 'domain' | 'xLabel' | 'yLabel'> & {
  width: number;
  height: number;
  say: (text: string) => void;
};

function Cells({ columns, domain, xLabel, yLabel, width, height, say }: CellsProps) {
  const cells = columns.flat();
  const xEdges = edges(columns.map((column) => column[0]?.x ?? 1));
  const placed = columns.map((column, i) => {
    const yEdges = edges(column.map((one) => one.y));
    return column.map((one, j) => ({ one, x: [xEdges[i], xEdges[i + 1]], y: [yEdges[j], yEdges[j + 1]] }));
  });
  const ys = extent(placed.flat().flatMap(({ y }) => y), 'log');
  const xs = extent(xEdges, 'log');
  if (!cells.length || !xs || !ys) return null;
  const x = scale('log', xs, [MARGIN.left, width - MARGIN.right]);
  const y = scale('log', ys, [height - MARGIN.bottom, MARGIN.top]);
  const rect = (one: { x: (number | undefined)[]; y: (number | undefined)[] }) => {
    const [left, right] = [x.at(one.x[0] ?? 1), x.at(one.x[1] ?? 1)];
    const [bottom, top] = [y.at(one.y[0] ?? 1), y.at(one.y[1] ?? 1)];
    return { x: left, y: top, width: right - left, height: bottom - top };
  };
  return (
    <>
      <g shape-rendering="crispEdges">
        {placed.flat().map((at, i) => (
          <rect
            key={i}
            {...rect(at)}
            fill={colourOf((at.one.value - domain[0]) / (domain[1] - domain[0] || 1))}
            onPointerEnter={() => say(at.one.text)}
          />
        ))}
      </g>
      {placed.flat().map((at, i) => at.one.leading && <Outline key={i} {...inset(rect(at))} />)}
      {placed.flat().map((at, i) => at.one.best && <Star key={i} {...rect(at)} />)}
      <Axes x={x} y={y} xLabel={xLabel} yLabel={yLabel} grid={false} />
    </>
  );
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function inset({ x, y, width, height }: Box): Box {
  return { x: x + 1, y: y + 1, width: Math.max(1, width - 2), height: Math.max(1, height - 2) };
}

/** Dark and light, so that it is seen on any colour. */
function Outline(box: Box) {
  return (
    <>
      <rect class="leading dark" {...box} />
      <rect class="leading" {...box} />
    </>
  );
}

function Star({ x, y, width, height }: Box) {
  const points = Array.from({ length: 10 }, (_, k) => {
    const angle = (Math.PI * k) / 5 - Math.PI / 2;
    const radius = k % 2 ? 4 : 9;
    return `${(radius * Math.cos(angle)).toFixed(1)},${(radius * Math.sin(angle)).toFixed(1)}`;
  });
  return <polygon class="best" transform={`translate(${x + width / 2},${y + height / 2})`} points={points.join(' ')} />;
}

/** The edges between places on a log axis: half way between each two, and as far beyond the ends. */
function edges(places: number[]): number[] {
  const logs = places.map(Math.log);
  const first = logs[0] ?? 0;
  const last = logs.at(-1) ?? 0;
  const before = logs.length > 1 ? (logs[1] ?? first) - first : 0.5;
  const after = logs.length > 1 ? last - (logs.at(-2) ?? last) : 0.5;
  const between = logs.slice(1).map((value, i) => (value + (logs[i] ?? value)) / 2);
  return [first - before / 2, ...between, last + after / 2].map(Math.exp);
}

function Legend({ domain, label }: { domain: [number, number]; label: string }) {
  const steps = Array.from({ length: 20 }, (_, i) => i);
  return (
    <>
      <span>
        {label}: {figure(domain[0])}{' '}
        <svg width="160" height="12" aria-hidden="true" shape-rendering="crispEdges">
          {steps.map((i) => (
            <rect key={i} x={8 * i} width="8" height="12" fill={colourOf((i + 0.5) / 20)} />
          ))}
        </svg>{' '}
        {figure(domain[1])}
      </span>
      <span>
        <svg width="16" height="14" aria-hidden="true">
          <Outline x={2} y={2} width={12} height={10} />
        </svg>{' '}
        leading cells
      </span>
      <span>
        <svg width="20" height="20" aria-hidden="true">
          <Star x={0} y={0} width={20} height={20} />
        </svg>{' '}
        best cell
      </span>
    </>
  );
}

function inWords({ title, columns, valueLabel, domain, xLabel, yLabel }: HeatMapProps): string {
  const cells = columns.flat();
  const best = cells.find((one) => one.best);
  const leading = cells.filter((one) => one.leading).length;
  return (
    `${title}: ${valueLabel} of ${cells.length} cells over ${xLabel} and ${yLabel}, from ${figure(domain[0])} to ` +
    `${figure(domain[1])}; ${leading} leading cells.${best ? ` Best: ${best.text}.` : ''}`
  );
}
