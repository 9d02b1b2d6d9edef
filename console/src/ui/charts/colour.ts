/** A scale of colours that goes from dark to light, which the colour-blind read like others (cividis). */
const STOPS: [number, number, number][] = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [225, 204, 85],
  [254, 232, 56],
];

/** The colour of a share from 0 (dark) to 1 (light). */
export function colourOf(share: number): string {
  const place = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const low = Math.min(Math.floor(place), STOPS.length - 2);
  const [a, b] = [STOPS[low], STOPS[low + 1]];
  const mixed = [0, 1, 2].map((i) => Math.round((a?.[i] ?? 0) + ((b?.[i] ?? 0) - (a?.[i] ?? 0)) * (place - low)));
  return `rgb(${mixed.join(',')})`;
}
