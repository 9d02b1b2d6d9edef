/** A CSV file as a table of columns, by the rules of the command line (svddtune.client.files). */
import { Column } from './column';
import { eachLine, unpacked } from './lines';
import { hasDecimalComma, parseNumber, strip, type Decimal } from './numbers';
import { Refusal, quoted } from './refusal';
import { CsvRows, RowFault, type Row } from './rows';

/** How a file is written. */
export interface Form {
  encoding: string;
  /** Absent: told from the first rows. */
  decimal?: Decimal;
  /** Empty: told from the first lines. */
  delimiter: string;
  /** Whether the first row has names; absent: it has if it holds no number. */
  header?: boolean;
}

/** A doubt about a column, or about the file. */
export interface Note {
  reason: string;
  column?: number;
  /** About a column it goes on after the column's name: "counts the rows, like ids". */
  message: string;
}

export interface Table {
  file: string;
  names: string[];
  hasNames: boolean;
  columns: Column[];
  /** The file's line of each row. */
  lines: Uint32Array;
  rowCount: number;
  delimiter: string;
  decimal: Decimal;
  /** Columns that are no features unless somebody says so: an index, or nothing at all. */
  leftOut: Set<number>;
  notes: Note[];
}

/** Names of a pandas index in CSV that was read and written again. */
const INDEX_NAME = /^(|Unnamed: 0(\.[0-9]+)?|__index_level_[0-9]+__)$/;
/** Rows that tell the decimal sign. */
const EARLY_ROWS = 50;
const OBSERVATION = ['id', 'key', 'time'];
export const DISPLAY = 'display:';

/** Read a file. Throws Refusal with the reason that the command line has. */
export async function readTable(
  file: string,
  content: Blob,
  form: Form,
  progress: (bytes: number) => void = () => undefined,
): Promise<Table> {
  const builder = new Builder(file, form);
  const delimiter = form.delimiter || (/\.tsv(\.gz)?$/i.test(file) ? '\t' : '');
  const rows = new CsvRows(delimiter, (row) => builder.add(row));
  let read = 0;
  const counted = (await unpacked(content)).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        read += chunk.length;
        progress(read);
        controller.enqueue(chunk);
      },
    }),
  );
  try {
    await eachLine(file, counted, form.encoding, (line) => {
      rows.feed(line);
      builder.delimiter = rows.delimiter;
    });
    rows.finish();
    builder.delimiter = rows.delimiter;
  } catch (fault) {
    if (!(fault instanceof RowFault)) throw fault;
    throw new Refusal('INVALID_FIELD', `${file} line ${fault.line}: ${fault.message}`);
  }
  const table = builder.finished();
  if (table.hasNames) {
    checkNames(table);
    leaveOutIndex(table);
  }
  return table;
}

class Builder {
  delimiter = '';
  private decimal: Decimal | undefined;
  /** Rows that wait until the decimal sign is told from them. */
  private early: Row[] = [];
  private first: Row | undefined;
  private columns: Column[] = [];
  private lines = new Uint32Array(64);
  private count = 0;
  private names: string[] = [];
  private hasNames = false;
  /** Empty rows that are left out if no other follows. */
  private pending: Row[] = [];
  private ragged: Refusal | undefined;

  constructor(
    private readonly file: string,
    private readonly form: Form,
  ) {
    this.decimal = form.decimal;
  }

  add(row: Row): void {
    if (this.decimal === undefined) {
      this.early.push(row);
      if (this.early.length === EARLY_ROWS) this.decide();
      return;
    }
    if (!this.first) {
      this.begin(row, this.decimal);
      return;
    }
    if (row.cells.length > 1 && row.cells.every((cell) => cell === '')) {
      this.pending.push(row);
      return;
    }
    for (const held of this.pending.splice(0)) this.keep(held);
    this.keep(row);
  }

  private decide(): void {
    const cells = this.early.flatMap((row) => row.cells);
    // (Where a comma separates the cells, 1,234 in quotes is more likely a thousand.)
    const commas = this.delimiter !== ',' && cells.some(hasDecimalComma);
    const points = cells.some((cell) => cell.includes('.') && parseNumber(cell) !== undefined);
    this.decimal = commas && !points ? ',' : '.';
    for (const row of this.early.splice(0)) this.add(row);
  }

  private begin(row: Row, decimal: Decimal): void {
    const { cells } = row;
    this.first = row;
    this.hasNames =
      this.form.header ?? cells.every((cell) => parseNumber(cell, decimal) === undefined);
    this.names = this.hasNames ? cells.map(strip) : cells.map((_, j) => String(j));
    this.columns = cells.map(() => new Column(decimal));
    if (!this.hasNames) this.keep(row);
  }

  private keep({ cells, line }: Row): void {
    const width = this.columns.length;
    if (cells.length !== width) {
      this.ragged ??= new Refusal(
        'DATASET_RAGGED',
        `${this.file} line ${line} has ${cells.length} values; expected ${width}`,
      );
      return;
    }
    if (this.ragged) return;
    for (let j = 0; j < width; j += 1) (this.columns[j] as Column).add(cells[j] as string);
    if (this.count === this.lines.length) {
      const larger = new Uint32Array(2 * this.count);
      larger.set(this.lines);
      this.lines = larger;
    }
    this.lines[this.count] = line;
    this.count += 1;
  }

  finished(): Table {
    if (this.decimal === undefined) this.decide();
    if (!this.first) throw new Refusal('DATASET_EMPTY', `${this.file} is empty`);
    if (this.ragged) throw this.ragged;
    if (!this.count) throw new Refusal('DATASET_EMPTY', `${this.file} has a header and no rows`);
    const notes: Note[] = [];
    if (this.pending.length) {
      const message = `${this.file}: left out ${this.pending.length} empty row(s) at the end`;
      notes.push({ reason: 'EMPTY_ROWS', message });
    }
    return {
      file: this.file,
      names: this.names,
      hasNames: this.hasNames,
      columns: this.columns,
      lines: this.lines.slice(0, this.count),
      rowCount: this.count,
      delimiter: this.delimiter,
      decimal: this.decimal ?? '.',
      leftOut: new Set(),
      notes,
    };
  }
}

function checkNames(table: Table): void {
  const first = new Map<string, number>();
  table.names.forEach((name, column) => {
    const earlier = first.get(name);
    if (name && earlier !== undefined) {
      throw new Refusal(
        'DUPLICATE_COLUMN',
        `${table.file}: columns ${earlier + 1} and ${column + 1} are both named ${quoted(name)}; give each column ` +
          'a different name; if the first line is data, say that it holds no names',
        column,
      );
    }
    first.set(name, column);
  });
}

/** Leave out a data frame's index and unnamed columns without values. */
function leaveOutIndex(table: Table): void {
  table.names.forEach((name, column) => {
    if (!INDEX_NAME.test(name)) return;
    const texts = (table.columns[column] as Column).texts();
    const shown = `column ${column + 1}${name ? ` (${quoted(name)})` : ', which has no name,'}`;
    if ((column === 0 || name) && new Set(texts).size === texts.length) {
      const message = 'looks like the index of a data frame and is left out';
      table.notes.push({ reason: 'INDEX_COLUMN', column, message });
    } else if (!name && texts.every((text) => !text.trim())) {
      const message = 'is empty and left out';
      table.notes.push({ reason: 'EMPTY_COLUMN', column, message });
    } else if (name) {
      return;
    } else {
      throw new Refusal(
        'COLUMN_UNNAMED',
        `${table.file}: ${shown} holds values such as ${quoted(texts[0] ?? '')}: give it a name, or remove the column`,
        column,
      );
    }
    table.leftOut.add(column);
  });
}

/** The columns id, key and time of observation files, where all three exist. */
export function observationColumns(table: Table): number[] {
  const found = OBSERVATION.map((name) => table.names.indexOf(name));
  return table.hasNames && found.every((column) => column >= 0) ? found : [];
}

/** The place of a row for messages. */
export function placeOf(table: Table, row: number): string {
  return `${table.file} line ${table.lines[row]} (row ${row})`;
}

/** A column in a sentence. */
export function columnShown(table: Table, column: number): string {
  return table.hasNames ? `column ${quoted(table.names[column] ?? '')}` : `column ${column} (counted from 0)`;
}
