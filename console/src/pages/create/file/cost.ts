/** What a session costs until its first question, before the service is asked: as svddtune.cost. */

const SAMPLED_ABOVE = 5000;
const PANEL_ROWS = 4096;
const SAMPLE_ROWS = 2048;

/** Seconds of one worker, and bytes of its memory; a factor of two either way is usual. */
export function estimate(rows: number, features: number, several: boolean, atlas: boolean) {
  const sampled = rows > SAMPLED_ABOVE;
  const prepared = atlas && sampled ? Math.min(rows, PANEL_ROWS) : rows;
  let seconds = 0.5 + 2e-7 * rows * features + 4e-8 * prepared ** 2;
  const part = sampled ? 0.6 + 0.004 * features : 0.02 + (6e-8 + 1e-10 * features) * rows ** 2;
  if (atlas) seconds += (several ? 60 : 21) * part;
  const copies = sampled ? 2.5 : 5;
  const pairs = (atlas && sampled ? SAMPLE_ROWS : Math.min(rows, SAMPLED_ABOVE)) ** 2;
  return { seconds, bytes: Math.round(2 ** 20 * 200 + 8 * (copies * rows * features + 4 * pairs)) };
}

export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function size(bytes: number): string {
  const mib = bytes / 2 ** 20;
  return mib < 1024 ? `${Math.round(mib)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}
