/** Verdicts from a column of known labels: as svddtune.client.files.labels. */
import type { Column } from './column';
import { exactNumber } from './numbers';
import { Refusal, quoted } from './refusal';
import { columnShown, placeOf, type Table } from './table';

export type Known = 'INLIER' | 'OUTLIER' | 'UNSURE';

const INLIER = new Set(['inlier', 'normal', '1']);
const OUTLIER = new Set(['outlier', 'anomaly', '-1']);
const UNKNOWN = new Set(['', '?', 'nan', 'unknown', 'none', 'null']);
const NAMED = /(^|[^a-z])(verdict|label|labels|outlier|anomaly|y|class|target|truth)([^a-z]|$)/;
/** A column with more different values holds no labels. */
const MOST_VALUES = 20;

/** What a column that may hold known labels looks like. */
export interface LabelColumn {
  /** How many rows each verdict has; absent where the value that marks an outlier must be named. */
  counts?: Record<Known, number>;
  /** The different values, to choose from. */
  values: string[];
}

/** The verdicts of a column by row; rows without one are left out.
 *
 * Throws Refusal: LABELS_AMBIGUOUS for 0 and 1 without `outlierValue`, INVALID_LABEL.
 */
export function columnVerdicts(table: Table, column: number, outlierValue?: string): Map<number, Known> {
  const shown = columnShown(table, column);
  const texts = (table.columns[column] as Column).texts().map((text) => text.trim());
  const marked = outlierValue === undefined ? undefined : markedTexts(texts, outlierValue.trim());
  const own = new Set([...(marked ?? [])].map(form));
  const isUnknown = (value: string) => UNKNOWN.has(value) && !own.has(value);
  const forms = new Map<string, string>();
  for (const text of texts) if (!forms.has(text)) forms.set(text, form(text));
  const distinct = new Set([...forms.values()].filter((value) => !isUnknown(value)));
  if (!distinct.size) throw new Refusal('INVALID_LABEL', `${shown} has no labels`, column);
  const verdicts = new Map<number, Known>();
  if (marked) {
    if (!marked.size) {
      throw new Refusal('INVALID_LABEL', `${quoted(outlierValue ?? '')} does not occur in ${shown}`, column);
    }
    texts.forEach((text, row) => {
      if (!isUnknown(forms.get(text) as string)) verdicts.set(row, marked.has(text) ? 'OUTLIER' : 'INLIER');
    });
    return verdicts;
  }
  const codes = [...distinct].every((value) => ['-1', '0', '1'].includes(value));
  if (distinct.has('0') && !distinct.has('-1') && codes) {
    throw new Refusal(
      'LABELS_AMBIGUOUS',
      `${shown} holds ${[...distinct].sort().join(', ')}, and it is unclear which value marks an outlier: choose it`,
      column,
    );
  }
  const yesNo =
    [...distinct].every((value) => value === 'yes' || value === 'no') &&
    (table.names[column] ?? '').toLowerCase().includes('outlier');
  texts.forEach((text, row) => {
    const value = forms.get(text) as string;
    if (isUnknown(value) || (codes && value === '0')) return;
    const verdict = word(value, yesNo);
    if (!verdict) {
      throw new Refusal(
        'INVALID_LABEL',
        `${placeOf(table, row)}, ${shown}: ${quoted(text)} is not a label; choose the value that marks an outlier`,
        column,
      );
    }
    verdicts.set(row, verdict);
  });
  return verdicts;
}

/** What a column would say as known labels; undefined where it does not look like them. */
export function looksLikeLabels(table: Table, column: number): LabelColumn | undefined {
  const values = new Set<string>();
  for (const text of (table.columns[column] as Column).texts()) {
    values.add(text.trim());
    if (values.size > MOST_VALUES) return undefined;
  }
  const known = [...values].filter((value) => !UNKNOWN.has(form(value))).sort();
  if (known.length < 2) return undefined;
  const named = table.hasNames && NAMED.test((table.names[column] ?? '').toLowerCase());
  try {
    const verdicts = columnVerdicts(table, column);
    const words = known.every((value) => exactNumber(value) === undefined);
    if (!words && !named) return undefined;
    return { counts: counted(verdicts), values: known };
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return named && known.length === 2 ? { values: known } : undefined;
  }
}

export function counted(verdicts: Map<number, Known>): Record<Known, number> {
  const counts = { INLIER: 0, OUTLIER: 0, UNSURE: 0 };
  for (const verdict of verdicts.values()) counts[verdict] += 1;
  return counts;
}

/** The texts that equal the wanted value, as numbers too; else those that differ in case only. */
function markedTexts(texts: Iterable<string>, wanted: string): Set<string> {
  const number = exactNumber(wanted);
  const distinct = [...new Set(texts)];
  const same = distinct.filter((text) => text === wanted || (number && exactNumber(text) === number));
  if (same.length) return new Set(same);
  return new Set(distinct.filter((text) => text.toLowerCase() === wanted.toLowerCase()));
}

/** The canonical form of a word or of an exact number. */
function form(text: string): string {
  return exactNumber(text.trim()) ?? text.trim().toLowerCase();
}

function word(value: string, yesNo: boolean): Known | undefined {
  if (INLIER.has(value)) return 'INLIER';
  if (OUTLIER.has(value)) return 'OUTLIER';
  if (value === 'unsure') return 'UNSURE';
  if (yesNo) return value === 'yes' ? 'OUTLIER' : 'INLIER';
  return undefined;
}
