/** The axes of a chart, with as many ticks as have room. */
import { apart, textWidth, tickText, type Scale } from './scale';

/** Room around the plot, for the axes' texts. */
export const MARGIN = { top: 12, right: 18, bottom: 46, left: 66 };

interface AxesProps {
  x: Scale;
  y: Scale;
  xLabel: string;
  yLabel: string;
  /** Lines across the plot at the ticks of y. */
  grid?: boolean;
}

export function Axes({ x, y, xLabel, yLabel, grid = true }: AxesProps) {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return (
    <g class="axes">
      {apart(y, () => 14).map((value) => (
        <g key={`y${value}`}>
          {grid && <line class="grid" x1={left} x2={right} y1={y.at(value)} y2={y.at(value)} />}
          <text class="tick" x={left - 8} y={y.at(value)} dy="0.35em" text-anchor="end">
            {tickText(value)}
          </text>
        </g>
      ))}
      {apart(x, textWidth).map((value) => (
        <g key={`x${value}`}>
          <line class="mark" x1={x.at(value)} x2={x.at(value)} y1={bottom} y2={bottom + 5} />
          <text class="tick" x={x.at(value)} y={bottom + 18} text-anchor="middle">
            {tickText(value)}
          </text>
        </g>
      ))}
      <path class="frame" d={`M${left},${top}V${bottom}H${right}`} />
      <text class="name" x={(left + right) / 2} y={bottom + 38} text-anchor="middle">
        {xLabel}
      </text>
      <text class="name" transform={`translate(14,${(top + bottom) / 2}) rotate(-90)`} text-anchor="middle">
        {yLabel}
      </text>
    </g>
  );
}
