/** The cells of a column: doubles, and the text in blocks, so that 100 MB of CSV stay near 100 MB. */
import { hasDecimalComma, losesDigits, parseNumber, strip, type Decimal } from './numbers';
import { quoted } from './refusal';

const EXACT = 2 ** 53;
/** Rows whose cells are held as one text. (No cell contains a NUL.) */
const BLOCK_ROWS = 2048;
const BETWEEN = '\0';

/** Why a column cannot be a feature. */
export interface CellFault {
  row: number;
  reason: 'DATASET_NOT_NUMERIC' | 'DATASET_NOT_FINITE' | 'DATASET_NOT_EXACT';
  text: string;
}

export class Column {
  count = 0;
  /** Cells that hold nothing but blanks, and those that are numbers (nan and inf are). */
  blankCount = 0;
  numberCount = 0;
  private doubles: Float64Array | undefined = new Float64Array(64);
  private readonly blocks: string[] = [];
  private block: string[] = [];
  private notNumeric: CellFault | undefined;
  private notFinite: CellFault | undefined;
  private notExact: CellFault | undefined;

  constructor(private readonly decimal: Decimal) {}

  add(cell: string): void {
    this.block.push(cell);
    if (this.block.length === BLOCK_ROWS) this.flush();
    const value = parseNumber(cell, this.decimal);
    const row = this.count;
    this.count += 1;
    if (value === undefined) {
      if (!strip(cell)) this.blankCount += 1;
      this.notNumeric ??= this.noNumber(row, cell);
      // A column with such a cell is no feature, whatever else it holds.
      this.doubles = undefined;
      return;
    }
    this.numberCount += 1;
    if (!this.doubles) return;
    if (row === this.doubles.length) {
      const larger = new Float64Array(2 * row);
      larger.set(this.doubles);
      this.doubles = larger;
    }
    this.doubles[row] = value;
    if (!Number.isFinite(value)) this.notFinite ??= noFinite(row, strip(cell));
    else if (Math.abs(value) >= EXACT && !this.notExact && losesDigits(cell, value)) {
      this.notExact = {
        row,
        reason: 'DATASET_NOT_EXACT',
        text:
          `${quoted(strip(cell))} has more digits than a double can hold, so different values would become equal. ` +
          'If it is an id or a code, do not use it as a feature',
      };
    }
  }

  /** What hinders the column from being a feature; the same cell that the command line names. */
  get fault(): CellFault | undefined {
    return this.notNumeric ?? this.notFinite ?? this.notExact;
  }

  /** All cells as finite doubles; only without a fault. */
  numbers(): Float64Array {
    if (!this.doubles || this.fault) throw new Error('not a column of numbers');
    return this.doubles.subarray(0, this.count);
  }

  /** All cells as they are written. */
  texts(): string[] {
    const texts: string[] = [];
    for (const block of this.blocks) for (const text of block.split(BETWEEN)) texts.push(text);
    for (const text of this.block) texts.push(text);
    return texts;
  }

  /** The first cells, as many as are at hand. */
  firstTexts(): string[] {
    return this.blocks[0]?.split(BETWEEN) ?? this.block;
  }

  private flush(): void {
    this.blocks.push(this.block.join(BETWEEN));
    this.block = [];
  }

  private noNumber(row: number, cell: string): CellFault {
    if (!strip(cell)) return noFinite(row, 'nothing');
    let hint = '';
    if (this.decimal === '.' && hasDecimalComma(cell)) hint = '; if decimals follow a comma, choose this sign';
    if (this.decimal === ',' && parseNumber(cell) !== undefined) hint = '; it has a decimal point, not a comma';
    return { row, reason: 'DATASET_NOT_NUMERIC', text: `${quoted(cell)} is not a number${hint}` };
  }
}

function noFinite(row: number, value: string): CellFault {
  const text = `${value} is not a finite number. Fill in a value, or leave out the row`;
  return { row, reason: 'DATASET_NOT_FINITE', text };
}
