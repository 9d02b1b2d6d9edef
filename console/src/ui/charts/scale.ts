/** Scales of axes: where a value stands, and which values are written beside the axis. */
import { ticks } from 'd3-array';

export type Kind = 'linear' | 'log';

export interface Scale {
  /** The place of a value, in pixels. */
  at: (value: number) => number;
  /** The values that may be written, ascending. */
  ticks: number[];
  /** The ends of the axis in pixels: where its lowest and its highest value stand. */
  range: readonly [number, number];
}

/** The lowest and the highest of the values that are finite, and positive on a log axis. */
export function extent(values: Iterable<number | undefined>, kind: Kind = 'linear'): [number, number] | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === undefined || !Number.isFinite(value) || (kind === 'log' && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : undefined;
}

/** A scale of a domain; a domain of one value gets some room around it. */
export function scale(kind: Kind, domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = kind === 'log' ? roomOfLog(domain) : room(domain);
  const place = kind === 'log' ? Math.log : (value: number) => value;
  const [from, to] = [place(low), place(high)];
  const at = (value: number) => range[0] + ((place(value) - from) / (to - from)) * (range[1] - range[0]);
  return { at, range, ticks: kind === 'log' ? logTicks(low, high) : ticks(low, high, 6) };
}

function room([low, high]: readonly [number, number]): [number, number] {
  if (low < high) return [low, high];
  const more = Math.abs(low) * 0.1 || 1;
  return [low - more, high + more];
}

function roomOfLog([low, high]: readonly [number, number]): [number, number] {
  return high / low < 1.5 ? [low / 1.5, high * 1.5] : [low, high];
}

/** Powers of ten where there are some, else 1, 2 and 5 times them, else what is round in between. */
function logTicks(low: number, high: number): number[] {
  const found = (factors: number[]) => {
    const all: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      // (10 ** -3 times 2 is 0.002 to the last bit only if it is read as a numeral.)
      for (const factor of factors) all.push(Number(`${factor}e${power}`));
    }
    return all.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  };
  for (const factors of [[1], [1, 3], [1, 2, 5]]) {
    const all = found(factors);
    if (all.length >= 4) return all;
  }
  const fine = found([1, 2, 5]);
  return fine.length >= 2 ? fine : ticks(low, high, 4);
}

/** The text of a tick. */
export function tickText(value: number): string {
  const size = Math.abs(value);
  if (size && (size < 1e-3 || size >= 1e6)) return value.toExponential(3).replace(/\.?0+e/, 'e');
  return value.toLocaleString('en', { maximumSignificantDigits: 6 });
}

/** About how many pixels a text takes at the size of ticks. */
export function textWidth(text: string): number {
  return text.length * 7.2;
}

/** Those ticks whose texts keep apart from each other, `size` pixels along the axis each. */
export function apart(one: Scale, size: (text: string) => number): number[] {
  for (let step = 1; step <= one.ticks.length; step++) {
    const kept = one.ticks.filter((_, i) => i % step === 0);
    const fits = kept.every((value, i) => {
      const next = kept[i + 1];
      if (next === undefined) return true;
      const room = Math.abs(one.at(next) - one.at(value));
      return room >= (size(tickText(value)) + size(tickText(next))) / 2 + 8;
    });
    if (fits) return kept;
  }
  return [];
}
