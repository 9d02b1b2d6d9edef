/** Lines of CSV as rows of cells, by the rules of the command line (svddtune.client.files.csv_rows). */
import { hasDecimalComma, strip } from './numbers';

const DELIMITERS = [',', ';', '\t', '|'];
/** The delimiter that stands for any number of spaces and tabs. */
export const BLANK = ' ';
const SAMPLE = 50;
const QUOTE = '"';
const BLANK_CELL = /"(?:[^"]|"")*"(?=[ \t]|$)|[^" \t][^ \t]*/y;

/** A line's number, from 1, and its text with its end. */
export type Line = readonly [number, string];

export interface Row {
  cells: string[];
  line: number;
}

/** A line that is not valid CSV. */
export class RowFault extends Error {
  constructor(
    message: string,
    readonly line = 0,
  ) {
    super(message);
  }
}

export function withoutEnd(line: string): string {
  let end = line.length;
  if (line.charCodeAt(end - 1) === 10) end -= 1;
  if (line.charCodeAt(end - 1) === 13) end -= 1;
  return end === line.length ? line : line.slice(0, end);
}

/** Splits lines into cells; a quoted cell may span lines. A quote opens a cell only at its start. */
class Splitter {
  /** Whether a quoted cell continues. */
  open = false;
  private cells: string[] = [];
  private pieces = '';

  constructor(private readonly delimiter: string) {}

  /** The cells of the row that ends with a line; undefined where the row continues. */
  feed(line: string): string[] | undefined {
    const body = withoutEnd(line);
    if (this.delimiter === BLANK) return this.atBlanks(body);
    if (!this.open) {
      if (!body.includes(QUOTE)) return body.split(this.delimiter);
      this.cells = [];
    }
    let position = 0;
    for (;;) {
      if (!this.open) {
        const begin = this.afterBlanks(body, position);
        if (body[begin] !== QUOTE) {
          const end = body.indexOf(this.delimiter, position);
          this.cells.push(end < 0 ? body.slice(position) : body.slice(position, end));
          if (end < 0) return this.cells;
          position = end + 1;
          continue;
        }
        this.open = true;
        this.pieces = '';
        position = begin + 1;
      }
      const end = line.indexOf(QUOTE, position);
      if (end < 0) {
        this.pieces += line.slice(position);
        return undefined;
      }
      if (line[end + 1] === QUOTE) {
        this.pieces += line.slice(position, end + 1);
        position = end + 2;
        continue;
      }
      this.cells.push(this.pieces + line.slice(position, end));
      this.open = false;
      position = this.afterBlanks(body, end + 1);
      if (position >= body.length) return this.cells;
      if (body[position] !== this.delimiter) {
        throw new RowFault(
          `not CSV: a delimiter is expected after a closing quote; write a quote inside a quoted cell twice`,
        );
      }
      position += 1;
    }
  }

  private afterBlanks(text: string, from: number): number {
    let position = from;
    while (
      position < text.length &&
      (text[position] === ' ' || text[position] === '\t') &&
      text[position] !== this.delimiter
    ) {
      position += 1;
    }
    return position;
  }

  private atBlanks(body: string): string[] {
    if (!body.includes(QUOTE)) return body.split(/[ \t]+/).filter(Boolean);
    const cells: string[] = [];
    let position = 0;
    for (;;) {
      while (position < body.length && (body[position] === ' ' || body[position] === '\t')) position += 1;
      if (position >= body.length) return cells;
      BLANK_CELL.lastIndex = position;
      const found = BLANK_CELL.exec(body);
      if (!found) throw new RowFault('a quote that begins here is not closed on its line');
      const [text] = found;
      cells.push(text.startsWith(QUOTE) ? text.slice(1, -1).replaceAll('""', QUOTE) : text);
      position += text.length;
    }
  }
}

/** Turns numbered lines into complete rows. Empty lines are passed over. */
export class CsvRows {
  /** Empty until it is told from the first lines. */
  delimiter: string;
  private splitter: Splitter | undefined;
  private sample: Line[] = [];
  private since = 0;
  private oneColumn: boolean | undefined;

  constructor(
    delimiter: string,
    private readonly take: (row: Row) => void,
  ) {
    this.delimiter = delimiter;
    if (delimiter) this.splitter = new Splitter(delimiter);
  }

  feed(line: Line): void {
    if (this.splitter) {
      this.row(this.splitter, line);
      return;
    }
    if (!this.sample.length && !strip(withoutEnd(line[1]))) return;
    this.sample.push(line);
    if (this.sample.length === SAMPLE) this.begin();
  }

  finish(): void {
    if (!this.splitter) this.begin();
    if (this.splitter?.open) throw new RowFault('a quote that begins here is not closed', this.since);
  }

  private begin(): void {
    if (!this.sample.length) return;
    this.delimiter = guessedDelimiter(this.sample.map(([, text]) => text));
    this.splitter = new Splitter(this.delimiter);
    const { sample } = this;
    this.sample = [];
    for (const line of sample) this.row(this.splitter, line);
  }

  private row(splitter: Splitter, [number, text]: Line): void {
    if (!splitter.open) {
      const body = withoutEnd(text);
      // In a table of one column a cell may be blank.
      if (!(this.oneColumn ? body : strip(body))) return;
      this.since = number;
    }
    let cells: string[] | undefined;
    try {
      cells = splitter.feed(text);
    } catch (fault) {
      if (fault instanceof RowFault) throw new RowFault(fault.message, this.since);
      throw fault;
    }
    if (cells === undefined) return;
    this.oneColumn ??= cells.length === 1;
    this.take({ cells, line: this.since });
  }
}

/** The delimiter guessed from the first lines; delimiters in quotes do not count. */
function guessedDelimiter(lines: string[]): string {
  const tried = new Map(DELIMITERS.map((one) => [one, trial(lines, one)]));
  const best = DELIMITERS.reduce((left, right) =>
    ranksAbove(tried.get(right) as Trial, tried.get(left) as Trial) ? right : left,
  );
  if ((tried.get(best) as Trial).width <= 1) {
    const blank = trial(lines, BLANK);
    return blank.width > 1 && !blank.fault ? BLANK : ',';
  }
  const semicolon = tried.get(';') as Trial;
  return best === ',' && semicolon.regular && semicolon.decimalCommas ? ';' : best;
}

interface Trial {
  width: number;
  share: number;
  fault: boolean;
  regular: boolean;
  decimalCommas: boolean;
}

function ranksAbove(one: Trial, other: Trial): boolean {
  const keys = (trial: Trial) => [Number(!trial.fault), Number(trial.width > 1), trial.share, trial.width];
  const [left, right] = [keys(one), keys(other)];
  for (let i = 0; i < left.length; i += 1) {
    if (left[i] !== right[i]) return (left[i] as number) > (right[i] as number);
  }
  return false;
}

function trial(lines: string[], delimiter: string): Trial {
  const splitter = new Splitter(delimiter);
  const widths: number[] = [];
  let decimalCommas = false;
  let fault = false;
  for (const line of lines) {
    if (!splitter.open && !strip(withoutEnd(line))) continue;
    try {
      const cells = splitter.feed(line);
      if (!cells) continue;
      widths.push(cells.length);
      decimalCommas ||= cells.some(hasDecimalComma);
    } catch {
      fault = true;
      break;
    }
  }
  const width = widths[0] ?? 0;
  const share = widths.length ? widths.filter((one) => one === width).length / widths.length : 0;
  return { width, share, fault, regular: width > 1 && share === 1 && !fault, decimalCommas };
}
