/** Parts of sentences about a result. */
import type { Interval } from '../../api/schema';
import { figure } from '../../ui/format';

/** An interval with its level: "0.71 to 0.93 (90 %)". */
export function between(interval: Interval | undefined): string {
  if (!interval) return '–';
  const level = figure(100 * (interval.level ?? 0), 3);
  return `${figure(interval.low ?? 0, 2)} to ${figure(interval.high ?? 0, 2)} (${level} %)`;
}
