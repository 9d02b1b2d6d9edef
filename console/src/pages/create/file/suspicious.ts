/** Columns that are probably no features, or rule all distances: as svddtune.client.files.suspicious. */
import type { Column } from './column';
import type { Note, Table } from './table';

/** Names that people give to ids and to codes, as a part of the name of their own. */
const ID = /(^|[^a-z])(id|ids|uid|uuid|guid|key|index|idx|nr|no|rownum|row)([^a-z]|$)/;
const CAMEL_ID = /[a-z](Id|ID|Key|Index|Nr|No)$/;
const CODE =
  /(^|[^a-z])(code|type|category|class|kind|zip|postcode|port|proto|protocol|status|state|country|region|group)([^a-z]|$)/;
const LEADING_ZERO = /^[+-]?0[0-9]+$/;
/** 2000-01-01 to 2100-01-01, in seconds since 1970. */
const FIRST_S = 946_684_800;
const LAST_S = 4_102_444_800;
const UNITS: [string, number][] = [
  ['seconds', 1],
  ['milliseconds', 1e3],
  ['microseconds', 1e6],
  ['nanoseconds', 1e9],
];
const FEWEST_ROWS = 5;
const MOST_CATEGORIES = 30;
const ROWS_PER_CATEGORY = 4;
const LEAST_CODE = 100;
const MOST_SPREAD = 1000;

/** Whether a name is one that people give to ids. */
export function namedLikeId(name: string): boolean {
  return ID.test(name.toLowerCase()) || CAMEL_ID.test(name);
}

/** A note for each feature that is probably none; without scaling for those that rule distances too. */
export function suspiciousColumns(table: Table, features: number[], scaled: boolean): Note[] {
  const notes: Note[] = [];
  const judged: number[] = [];
  for (const column of features) {
    const found = suspicion(table, column);
    if (found) notes.push({ reason: found[0], column, message: found[1] });
    else judged.push(column);
  }
  if (!scaled) {
    for (const [column, message] of spreads(table, judged)) notes.push({ reason: 'SPREAD', column, message });
  }
  return notes;
}

function suspicion(table: Table, column: number): [string, string] | undefined {
  const held = table.columns[column] as Column;
  const values = held.numbers();
  const N = values.length;
  const leave = '; leave it out, or show it to labelers';
  if (N < 2) return undefined;
  if (values.every((value) => value === values[0])) {
    return ['CONSTANT_COLUMN', `has the value ${held.texts()[0]} in every row${leave}`];
  }
  if (N < FEWEST_ROWS) return undefined;
  if (!values.every((value) => value === Math.floor(value))) return time(values, leave);
  const name = table.hasNames ? (table.names[column] ?? '') : '';
  const distinct = new Set(values);
  const counts = values.every((value, i) => i === 0 || value - (values[i - 1] as number) === 1);
  if (counts || (distinct.size === N && namedLikeId(name))) {
    const how = counts ? 'counts the rows' : 'has a different whole number in each row';
    return ['ID_COLUMN', `${how}, like ids; use it as ids, or leave it out`];
  }
  const moment = time(values, leave) ?? date(values, leave);
  if (moment) return moment;
  if (held.texts().some((text) => LEADING_ZERO.test(text))) {
    return ['CATEGORY_COLUMN', `has numbers with leading zeros, like codes${leave}`];
  }
  let least = Infinity;
  for (const value of distinct) least = Math.min(least, Math.abs(value));
  let few = distinct.size > 2 && distinct.size <= Math.min(MOST_CATEGORIES, Math.floor(N / ROWS_PER_CATEGORY));
  if (distinct.size === 2 && least >= LEAST_CODE) few = true;
  if (few && (CODE.test(name.toLowerCase()) || least >= LEAST_CODE)) {
    return [
      'CATEGORY_COLUMN',
      `has ${distinct.size} different whole numbers, like codes of categories, whose differences mean nothing${leave}`,
    ];
  }
  return undefined;
}

function time(values: Float64Array, leave: string): [string, string] | undefined {
  for (const [unit, factor] of UNITS) {
    if (values.every((value) => value >= FIRST_S * factor && value < LAST_S * factor)) {
      return ['TIME_COLUMN', `looks like times in ${unit} since 1970${leave}`];
    }
  }
  return undefined;
}

function date(values: Float64Array, leave: string): [string, string] | undefined {
  const dates = values.every((value) => {
    const year = Math.floor(value / 10_000);
    const month = Math.floor(value / 100) % 100;
    const day = value % 100;
    return year >= 1900 && year < 2100 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  });
  return dates ? ['TIME_COLUMN', `looks like dates written as numbers${leave}`] : undefined;
}

/** The columns whose spread differs from the median of the others beyond the limit. */
function* spreads(table: Table, columns: number[]): Generator<[number, string]> {
  const known: { column: number; spread: number }[] = [];
  for (const column of columns) {
    const spread = spreadOf((table.columns[column] as Column).numbers());
    if (spread > 0 && Number.isFinite(spread)) known.push({ column, spread });
  }
  const sorted = known.map((one) => one.spread).sort((one, other) => one - other);
  for (const { column, spread } of known) {
    const others = [...sorted];
    others.splice(sorted.indexOf(spread), 1);
    if (!others.length) continue;
    const ratio = spread / quantile(others, 50);
    if (MOST_SPREAD < ratio && ratio < Infinity) {
      yield [
        column,
        `has ${Math.round(ratio).toLocaleString('en')} times the spread of the others and dominates all distances; ` +
          'let the columns be scaled',
      ];
    } else if (others.length > 1 && ratio > 0 && ratio < 1 / MOST_SPREAD) {
      yield [
        column,
        `has 1/${Math.round(1 / ratio).toLocaleString('en')} of the spread of the others and hardly affects distances; ` +
          'let the columns be scaled',
      ];
    }
  }
}

/** The distance of the quartiles; of wider quantiles where these are one. */
function spreadOf(values: Float64Array): number {
  const sorted = values.slice().sort();
  for (const [low, high] of [[25, 75], [5, 95], [0, 100]] as const) {
    const one = quantile(sorted, low);
    const other = quantile(sorted, high);
    if (other > one) return other - one;
  }
  return 0;
}

/** As numpy.percentile interpolates. */
function quantile(sorted: ArrayLike<number>, percent: number): number {
  const at = (percent / 100) * (sorted.length - 1);
  const below = Math.floor(at);
  const one = sorted[below] as number;
  const other = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  const share = at - below;
  return share >= 0.5 ? other - (other - one) * (1 - share) : one + (other - one) * share;
}
