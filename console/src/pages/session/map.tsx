/** The map of the data: where the asked rows are, and what the best cell has outside. */
import { useMemo } from 'preact/hooks';
import { call, path } from '../../api/call';
import type { Session, SessionMap } from '../../api/schema';
import { Scatter, side, type Dot, type Shape } from '../../ui/charts/scatter';
import { many, percent } from '../../ui/format';
import { useLoad } from '../../ui/load';
import { PartNotice } from '../../ui/notice';
import { figuresOf } from './watched';

interface MapProps {
  session: Session;
  returns: number;
}

export function MapOfData({ session, returns }: MapProps) {
  const name = session.name ?? '';
  const { value, error } = useLoad(
    (signal) => call<SessionMap>(path`/v1/${name}:map`, { signal }),
    [name, figuresOf(session), returns],
  );
  const labels = useMemo(() => labelsOf(value), [value]);
  const dots = useMemo(() => dotsOf(value), [value]);
  const marks = useMemo(() => (value?.rows ?? []).map((row) => labels.get(row)), [value, labels]);
  if (!value || !dots.length) return <PartNotice error={error} />;
  const rows = () => tableRows(value, labels);
  return (
    <section aria-labelledby="map">
      <h2 id="map">Map of the data</h2>
      <Scatter
        title="Rows by label and side"
        caption={caption(value, session)}
        dots={dots}
        marks={marks}
        say={(i) => said(value, i, marks[i])}
        xLabel="first coordinate"
        yLabel="second coordinate"
        table={{ columns: ['Observation', 'Label', 'Side', 'x', 'y'], rows }}
      />
    </section>
  );
}

function dotsOf(map: SessionMap | undefined): Dot[] {
  return (map?.rows ?? []).map((_, i) => ({ x: map?.x?.[i] ?? 0, y: map?.y?.[i] ?? 0, margin: map?.margins?.[i] }));
}

/** Row -> its label in force. */
function labelsOf(map: SessionMap | undefined): Map<number, Shape> {
  const of = (label: Shape, rows: number[] = []) => rows.map((row): [number, Shape] => [row, label]);
  return new Map([...of('inlier', map?.inlierRows), ...of('outlier', map?.outlierRows), ...of('unsure', map?.unsureRows)]);
}

function said(map: SessionMap, i: number, label: Shape | undefined): string {
  const id = map.observationIds?.[i] ?? String(map.rows?.[i]);
  return `${id}: ${label ? `labelled ${label}` : 'not labelled'}, ${side(map.margins?.[i])}`;
}

function caption(map: SessionMap, session: Session): string {
  const shown = map.rows?.length ?? 0;
  const all = session.observationCount ?? 0;
  const sample = shown < all ? ` Shown are ${shown} of ${all} rows: a sample, and all that were asked about.` : '';
  const line = map.margins?.length
    ? ` Inside and outside are those of the best cell on ${many(map.labels ?? 0, 'label')}. The line is drawn where the rows' ` +
      'margins, smoothed over the picture, change sign: a projection, so rows can lie on its wrong side.'
    : ' Inside and outside are not known yet.';
  return `The ${map.method || 'coordinates'}, with ${percent(map.explainedShare ?? 0)} of the variance.${line}${sample}`;
}

/** The labelled rows first, then those that are farthest outside. */
function tableRows(map: SessionMap, labels: Map<number, Shape>): string[][] {
  const indices = [...(map.rows ?? []).keys()];
  const labelled = (i: number) => (labels.has(map.rows?.[i] ?? -1) ? 1 : 0);
  const margin = (i: number) => map.margins?.[i] ?? -Infinity;
  indices.sort((a, b) => labelled(b) - labelled(a) || margin(b) - margin(a) || a - b);
  return indices.map((i) => [
    map.observationIds?.[i] ?? '',
    labels.get(map.rows?.[i] ?? -1) ?? '–',
    side(map.margins?.[i]),
    (map.x?.[i] ?? 0).toFixed(2),
    (map.y?.[i] ?? 0).toFixed(2),
  ]);
}
