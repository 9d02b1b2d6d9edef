/** Numbers in files, by the rules of the command line (svddtune.client.files.numbers). */

const NUMBER = /^([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?$/;
const WORD = /^([+-]?)(nan|inf|infinity)$/i;
const WHOLE = /^[+-]?[0-9]+$/;
const DECIMAL_COMMA = /^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$/;
/** Whole numbers of fewer digits are exact as doubles. */
const EXACT_DIGITS = 15;
const MOST_ZEROS = 40;
const MOST_EXPONENT_DIGITS = 9;

export type Decimal = '.' | ',';

/** A text without spaces and tabs around it. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** The number that a text denotes; undefined where it is none. nan and inf are numbers. */
export function parseNumber(given: string, decimal: Decimal = '.'): number | undefined {
  let text = strip(given);
  if (decimal === ',') {
    if (text.includes('.')) return undefined;
    text = text.replaceAll(',', '.');
  }
  if (NUMBER.test(text)) return Number(text);
  const word = WORD.exec(text);
  if (!word) return undefined;
  if (word[2]?.toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? -Infinity : Infinity;
}

export function hasDecimalComma(text: string): boolean {
  return DECIMAL_COMMA.test(strip(text));
}

/** Whether a text is a whole number that its double does not equal. */
export function losesDigits(given: string, value: number): boolean {
  if (given.length <= EXACT_DIGITS || !Number.isFinite(value)) return false;
  const text = strip(given);
  if (!WHOLE.test(text)) return false;
  const digits = text.startsWith('+') ? text.slice(1) : text;
  // (BigInt takes no sign before zeros such as -0.)
  const exact = digits.startsWith('-') ? -BigInt(digits.slice(1)) : BigInt(digits);
  return BigInt(value) !== exact;
}

/** The canonical form of a number whatever its digits: 1, 1.0 and 10e-1 are "1"; undefined for text.
 * A needless leading zero, as in 01, makes a code of it.
 */
export function exactNumber(given: string): string | undefined {
  const found = NUMBER.exec(strip(given));
  if (!found) return undefined;
  const [, sign = '', whole = '', decimals = '', bare = '', exponent = ''] = found;
  if ((whole.length > 1 && whole.startsWith('0')) || exponent.length > MOST_EXPONENT_DIGITS) {
    return undefined;
  }
  const fraction = decimals || bare;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (!significant) return '0';
  const power = Number(exponent || '0') - fraction.length + digits.length - significant.length;
  const minus = sign === '-' ? '-' : '';
  if (Math.abs(power) > MOST_ZEROS) return `${minus}${significant}e${power}`;
  if (power >= 0) return minus + significant + '0'.repeat(power);
  const padded = significant.padStart(1 - power, '0');
  return `${minus}${padded.slice(0, padded.length + power)}.${padded.slice(padded.length + power)}`;
}
