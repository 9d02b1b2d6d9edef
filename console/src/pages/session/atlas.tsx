/** The atlas: what the labels say of every cell of (gamma, C), one picture for each representation. */
import { useMemo, useState } from 'preact/hooks';
import { call, path } from '../../api/call';
import type { AtlasLayer, Session } from '../../api/schema';
import { HeatMap, type Cell } from '../../ui/charts/heat_map';
import { extent } from '../../ui/charts/scale';
import { figure, many, percent } from '../../ui/format';
import { useLoad } from '../../ui/load';
import { PartNotice } from '../../ui/notice';
import { figuresOf } from './watched';
import { representation } from './words';

interface Answered {
  labels: number;
  layers: AtlasLayer[];
}

// The leading cells have this share of the evidence together, but are at most so many.
const LEADING_SHARE = 0.5;
const MOST_LEADING = 20;
// A score that stands for a cell that there is none of.
const ABSENT = -2;

export function Atlas({ session, returns }: { session: Session; returns: number }) {
  const name = session.name ?? '';
  const { value, error } = useLoad(
    (signal) => call<Answered>(path`/v1/${name}:atlas`, { signal }),
    [name, figuresOf(session), returns],
  );
  const [chosen, setChosen] = useState('');
  const layers = value?.layers ?? [];
  const best = session.live?.scaling ?? session.scaling;
  const layer = layers.find((one) => one.scaling === (chosen || best)) ?? layers[0];
  const domain = useMemo(
    () => extent(layers.flatMap((one) => (one.scores ?? []).filter((score) => score > ABSENT))),
    [value],
  );
  const leading = useMemo(() => leastLeading(layers), [value]);
  const columns = useMemo(() => (layer ? cellsOf(layer, leading, session) : []), [layer, session.live]);
  if (!value || !layer || !domain) return <PartNotice error={error} />;
  return (
    <section aria-labelledby="atlas">
      <h2 id="atlas">Atlas</h2>
      <div class="row filters">
        <label>
          Representation
          <select value={layer.scaling} onChange={(event) => setChosen(event.currentTarget.value)}>
            {layers.map((one) => (
              <option key={one.scaling} value={one.scaling}>
                {representation(one.scaling)}, {percent(sum(one.weights))} of the evidence
              </option>
            ))}
          </select>
        </label>
      </div>
      <HeatMap
        title={`Expected score, ${representation(layer.scaling)}`}
        caption={
          `Expected score of each cell on all rows, by the labels' model of the data, on ${many(value.labels, 'label')}. ` +
          leadingWords(layers, leading)
        }
        columns={columns}
        domain={domain}
        xLabel="gamma"
        yLabel="C"
        valueLabel="Expected score"
        table={{
          columns: ['gamma', 'C', 'Expected score', 'Rows outside', 'Share of the evidence'],
          rows: () => tableRows(layer),
        }}
      />
    </section>
  );
}

function sum(values: number[] | undefined): number {
  return (values ?? []).reduce((all, one) => all + one, 0);
}

/** The weight of the last cell that still belongs to the leading ones. */
function leastLeading(layers: AtlasLayer[]): number {
  const weights = layers.flatMap((one) => one.weights ?? []).sort((a, b) => b - a);
  let all = 0;
  for (const [i, weight] of weights.entries()) {
    all += weight;
    if (all >= LEADING_SHARE || i + 1 >= MOST_LEADING) return weight;
  }
  return Infinity;
}

function leadingWords(layers: AtlasLayer[], leading: number): string {
  const held = layers.flatMap((one) => one.weights ?? []).filter((weight) => weight >= leading);
  return `The leading cells are the ${held.length} with most of the evidence, ${percent(sum(held))} together in all representations.`;
}

function cellsOf(layer: AtlasLayer, leading: number, session: Session): Cell[][] {
  const { gammas = [], costs = [], scores = [], weights = [], outsideCounts = [] } = layer;
  const perGamma = gammas.length ? costs.length / gammas.length : 0;
  const { live } = session;
  const isBest = (gamma: number, c: number) =>
    live?.scaling === layer.scaling && near(live?.gamma, gamma) && near(live?.c, c);
  return gammas.map((gamma, i) =>
    Array.from({ length: perGamma }, (_, j) => i * perGamma + j)
      .filter((k) => (scores[k] ?? ABSENT) > ABSENT)
      .map((k) => {
        const [c, score, weight] = [costs[k] ?? 0, scores[k] ?? 0, weights[k] ?? 0];
        const text =
          `gamma ${figure(gamma)}, C ${figure(c)}: expected score ${figure(score)}, ` +
          `${outsideCounts[k] ?? 0} rows outside, ${percent(weight)} of the evidence`;
        return { x: gamma, y: c, value: score, leading: weight >= leading, best: isBest(gamma, c), text };
      }),
  ).filter((column) => column.length);
}

function near(one: number | undefined, other: number): boolean {
  return one !== undefined && Math.abs(one - other) <= 1e-6 * Math.abs(other);
}

/** The cells by their share of the evidence. */
function tableRows(layer: AtlasLayer): string[][] {
  const { gammas = [], costs = [], scores = [], weights = [], outsideCounts = [] } = layer;
  const perGamma = gammas.length ? costs.length / gammas.length : 1;
  const indices = [...scores.keys()].filter((k) => (scores[k] ?? ABSENT) > ABSENT);
  indices.sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
  return indices.map((k) => [
    figure(gammas[Math.floor(k / perGamma)]),
    figure(costs[k]),
    figure(scores[k]),
    String(outsideCounts[k] ?? 0),
    percent(weights[k] ?? 0),
  ]);
}
