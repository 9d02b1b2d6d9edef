/** A table with its roles as the messages of an upload: a line of JSON each. */
import { positionsOf, type Role } from './choice';
import type { Column } from './column';
import { Refusal, quoted } from './refusal';
import { columnShown, DISPLAY, observationColumns, placeOf, type Table } from './table';
import { columnVerdicts, type Known } from './verdicts';

/** Rows `first` to `end` as a line of an upload. */
export interface Chunk {
  first: number;
  end: number;
  line: Blob;
}

/** What is sent of a file. */
export interface Encoded {
  /** The header's fields beside its name, scaling and upload id. */
  header: { observationCount: number; featureCount: number; featureNames: string[] };
  chunks: Chunk[];
  /** Known labels; empty where no column holds them. */
  labels: { observationId: string; verdict: Known }[];
}

const MOST_BYTES = 480_000;
const LARGEST_MAGNITUDE = 1e100;
const LONGEST = { id: 256, name: 256, field: 128, value: 4096 };
const FORMULA_MARKED = /^'+[=+\-@\t\r]/;
const bytesOf = new TextEncoder();

/** Encode a table. Throws Refusal for what the command line refuses when it stores a dataset. */
export function encoded(table: Table, roles: Role[], outlierValue?: string): Encoded {
  const features = positionsOf(roles, 'feature');
  const names = table.hasNames ? features.map((column) => table.names[column] as string) : [];
  for (const name of names) atMost(name, LONGEST.name, `The name of the column ${quoted(name)}`);
  const ids = idsOf(table, roles);
  const columns = features.map((column) => numbersOf(table, column));
  const shown = positionsOf(roles, 'display').map((column) => shownTexts(table, column));
  const chunks: Chunk[] = [];
  let first = 0;
  while (first < table.rowCount) {
    const end = endOfChunk(first, table.rowCount, columns.length, ids, shown);
    chunks.push({ first, end, line: chunkOf(first, end, columns, ids, shown) });
    first = end;
  }
  const column = positionsOf(roles, 'label')[0];
  const verdicts = column === undefined ? new Map<number, Known>() : columnVerdicts(table, column, outlierValue);
  const labels = [...verdicts]
    .filter(([, verdict]) => verdict !== 'UNSURE')
    .map(([row, verdict]) => ({ observationId: ids?.[row] ?? String(row), verdict }));
  const header = { observationCount: table.rowCount, featureCount: features.length, featureNames: names };
  return { header, chunks, labels };
}

/** The ids of a table's rows; undefined where its row numbers are the ids. */
function idsOf(table: Table, roles: Role[]): string[] | undefined {
  const column = positionsOf(roles, 'id')[0];
  if (column === undefined) return undefined;
  const seen = new Map<string, number>();
  const ids = unmarked(table, (table.columns[column] as Column).texts().map((text) => text.trim()));
  ids.forEach((id, row) => {
    const earlier = seen.get(id);
    if (!id || earlier !== undefined) {
      const fault = id ? `${quoted(id)} is also the id of row ${earlier}` : 'the id is empty';
      throw new Refusal(
        'DUPLICATE_OBSERVATION_ID',
        `${placeOf(table, row)}, ${columnShown(table, column)}: ${fault}; ids must be unique`,
        column,
      );
    }
    seen.set(id, row);
    atMost(id, LONGEST.id, `${placeOf(table, row)}: the id`, column);
  });
  return ids;
}

interface Shown {
  key: string;
  texts: string[];
  /** Whether empty cells are sent too. */
  whole: boolean;
}

function shownTexts(table: Table, column: number): Shown {
  const name = table.names[column] as string;
  const marked = name.startsWith(DISPLAY);
  const key = marked ? name.slice(DISPLAY.length) : name;
  if (!key) throw new Refusal('INVALID_FIELD', 'A column that labelers are shown needs a name', column);
  atMost(key, LONGEST.field, `The name ${quoted(key)}, which labelers are shown,`, column);
  const texts = unmarked(table, (table.columns[column] as Column).texts());
  texts.forEach((text, row) => atMost(text, LONGEST.value, `${placeOf(table, row)}, ${quoted(key)}: the text`, column));
  return { key, texts, whole: !marked };
}

function numbersOf(table: Table, column: number): Float64Array {
  const values = (table.columns[column] as Column).numbers();
  const row = values.findIndex((value) => Math.abs(value) > LARGEST_MAGNITUDE);
  if (row >= 0) {
    throw new Refusal(
      'DATASET_OUT_OF_RANGE',
      `${placeOf(table, row)}, ${columnShown(table, column)}: ${values[row]} is too large; magnitudes up to 1e+100 ` +
        'are allowed. Divide the column by a power of ten',
      column,
    );
  }
  return values;
}

function atMost(text: string, bytes: number, what: string, column?: number): void {
  // (A character has at most three bytes for each unit of a text.)
  if (3 * text.length <= bytes) return;
  const size = bytesOf.encode(text).length;
  if (size > bytes) {
    throw new Refusal('INVALID_FIELD', `${what} has ${size} bytes, but at most ${bytes} are allowed`, column);
  }
}

/** Texts without the marks by which files of observations keep spreadsheets from running formulas. */
function unmarked(table: Table, texts: string[]): string[] {
  if (!observationColumns(table).length) return texts;
  return texts.map((text) => (FORMULA_MARKED.test(text) ? text.slice(1) : text));
}

function endOfChunk(first: number, rows: number, width: number, ids: string[] | undefined, shown: Shown[]): number {
  let size = 0;
  let row = first;
  for (; row < rows; row += 1) {
    let cost = 8 * width + 3 * (ids?.[row]?.length ?? 0);
    for (const { key, texts } of shown) cost += 24 + 3 * (key.length + (texts[row] as string).length);
    if (row > first && size + cost > MOST_BYTES) break;
    size += cost;
  }
  return row;
}

function chunkOf(
  first: number,
  end: number,
  columns: Float64Array[],
  ids: string[] | undefined,
  shown: Shown[],
): Blob {
  const width = columns.length;
  const view = new DataView(new ArrayBuffer(8 * width * (end - first)));
  columns.forEach((values, j) => {
    for (let row = first; row < end; row += 1) {
      view.setFloat64(8 * ((row - first) * width + j), values[row] as number, true);
    }
  });
  const chunk: Record<string, unknown> = {
    rows: { rows: end - first, columns: width, values: base64(new Uint8Array(view.buffer)) },
    firstRow: first,
  };
  if (ids) chunk['observationIds'] = ids.slice(first, end);
  if (shown.length) {
    chunk['displays'] = Array.from({ length: end - first }, (_, i) => ({
      fields: shown.flatMap(({ key, texts, whole }) => {
        const value = texts[first + i] as string;
        return value || whole ? [{ key, value }] : [];
      }),
    }));
  }
  return new Blob([`${JSON.stringify({ chunk })}\n`]);
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x6000) {
    // (A multiple of three bytes, so that the pieces join.)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + 0x6000)));
  }
  return text;
}
