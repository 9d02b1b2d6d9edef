/** How each figure changed with the labels. */
import { call, path } from '../../api/call';
import type { HistoryPoint, Session } from '../../api/schema';
import { LineChart } from '../../ui/charts/line_chart';
import { many } from '../../ui/format';
import { useLoad } from '../../ui/load';
import { PartNotice } from '../../ui/notice';
import { metric, representation } from './words';

const X = { label: 'labels', whole: true };

export function History({ session, returns }: { session: Session; returns: number }) {
  const name = session.name ?? '';
  const { value, error } = useLoad(
    (signal) => allPoints(name, signal),
    [name, session.live?.labels, session.gamma, session.alignment, session.rankingPending, returns],
  );
  const points = value ?? [];
  if (points.length < 2) return <PartNotice error={error} />;
  return (
    <section aria-labelledby="history">
      <h2 id="history">With the labels</h2>
      <p class="hint">{scalings(points)}</p>
      <div class="columns">
        {points.some((one) => one.quality) ? <OfAtlas points={points} /> : <OfAlignment points={points} />}
      </div>
    </section>
  );
}

function OfAtlas({ points }: { points: HistoryPoint[] }) {
  const word = metric(points.find((one) => one.quality)?.quality?.metric);
  const gains = points.some((one) => one.expectedGain !== undefined);
  return (
    <>
      <LineChart
        title="Quality"
        caption="The score on the labels with its interval is optimistic; the expected score on all rows is pessimistic."
        x={X}
        y={{ label: word }}
        lines={[
          {
            name: 'on the labels',
            style: 'first',
            points: points.map(({ labels = 0, quality }) => ({
              x: labels,
              y: quality?.value,
              low: quality?.interval?.low,
              high: quality?.interval?.high,
            })),
          },
          { name: 'expected on all rows', style: 'second', points: of(points, (one) => one.expected) },
        ]}
      />
      <Choice name="gamma" points={of(points, (one) => one.gamma)} />
      <Choice name="C" points={of(points, (one) => one.c || undefined)} />
      <LineChart
        title="Rows outside"
        x={X}
        y={{ label: 'rows', whole: true }}
        lines={[{ name: 'rows outside', style: 'first', points: of(points, (one) => one.outsideCount ?? 0), steps: true }]}
      />
      {gains && (
        <LineChart
          title="What ten more labels are expected to gain"
          x={X}
          y={{ label: "Cohen's kappa" }}
          lines={[{ name: 'expected gain', style: 'first', points: of(points, (one) => one.expectedGain) }]}
        />
      )}
    </>
  );
}

function OfAlignment({ points }: { points: HistoryPoint[] }) {
  return (
    <>
      <Choice name="gamma" points={of(points, (one) => one.gamma)} />
      {points.some((one) => one.alignment !== undefined) && (
        <LineChart
          title="Alignment"
          x={X}
          y={{ label: 'alignment' }}
          lines={[{ name: 'alignment', style: 'first', points: of(points, (one) => one.alignment) }]}
        />
      )}
    </>
  );
}

/** A chosen value, on a log axis. */
function Choice({ name, points }: { name: string; points: { x: number; y: number | undefined }[] }) {
  return (
    <LineChart
      title={name}
      x={X}
      y={{ label: name, kind: 'log' }}
      lines={[{ name, style: 'first', points, steps: true }]}
    />
  );
}

function of(points: HistoryPoint[], value: (one: HistoryPoint) => number | undefined) {
  return points.map((one) => ({ x: one.labels ?? 0, y: value(one) }));
}

/** All points by ascending number of labels; of several with one number, the latest. */
async function allPoints(name: string, signal: AbortSignal): Promise<HistoryPoint[]> {
  const found = new Map<number, HistoryPoint>();
  let token = '';
  do {
    const page = await call<{ points: HistoryPoint[]; nextPageToken: string }>(
      `${path`/v1/${name}/history`}?pageToken=${encodeURIComponent(token)}`,
      { signal },
    );
    for (const one of page.points) found.set(one.labels ?? 0, one);
    token = page.nextPageToken;
  } while (token);
  return [...found.values()].sort((a, b) => (a.labels ?? 0) - (b.labels ?? 0));
}

/** "Representation: min-max from 2 labels, ranks from 9 labels." */
function scalings(points: HistoryPoint[]): string {
  const changes = points.filter((one, i) => one.scaling !== points[i - 1]?.scaling);
  const words = changes.map((one) => `${representation(one.scaling)} from ${many(one.labels ?? 0, 'label')} on`);
  const shown = words.length > 5 ? ['…', ...words.slice(-5)] : words;
  return `Representation: ${shown.join(', ')}.`;
}
