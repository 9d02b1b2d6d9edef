/** Figures and times as people read them. */

/** A figure with about `digits` significant digits: 0.0001234 is "1.23e-4", 1234.5 is "1,235". */
export function figure(value: number | undefined, digits = 3): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return value.toExponential(digits - 1);
  return value.toLocaleString('en', size < 1000 ? { maximumSignificantDigits: digits } : { maximumFractionDigits: 0 });
}

/** A share as percent. */
export function percent(share: number): string {
  return `${figure(100 * share, 2)} %`;
}

/** "1 question", "2,000 questions". */
export function many(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** How long ago a time of the service was. */
export function ago(time: string | undefined): string {
  if (!time) return '';
  const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  const units: [number, string][] = [[86400, 'day'], [3600, 'hour'], [60, 'minute']];
  for (const [length, word] of units) {
    const count = Math.floor(seconds / length);
    if (count >= 1) return `${many(count, word)} ago`;
  }
  return 'just now';
}

/** An enum's word: wordOf('SESSION_STATE_LABELING', 'SESSION_STATE_') is "labeling". */
export function wordOf(value: string | undefined, prefix: string): string {
  return (value ?? '').replace(prefix, '').replaceAll('_', ' ').toLowerCase();
}
