/** How far the session is, who else labels, and what the last answer has changed. */
import type { LiveEvidence, Session } from '../../api/schema';
import { figure, many, wordOf } from '../../ui/format';
import { hasAtlas } from '../../ui/strategy';

interface Shown {
  session: Session;
  before: LiveEvidence | undefined;
  /** Questions that this page holds. */
  held: number;
  unsent: number;
}

export function Progress({ session, before, held, unsent }: Shown) {
  const { config, counts } = session;
  const blind = config?.blind ?? false;
  const budget = config?.budget ?? 0;
  const total = counts?.total ?? 0;
  return (
    <>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">Progress</h2>
        <progress max={budget} value={Math.min(total, budget)} aria-labelledby="progress-text" />
        <p id="progress-text">
          {total} of {budget} labels
          {!blind && `: ${counts?.inlier ?? 0} inlier, ${counts?.outlier ?? 0} outlier`}
          {!blind && counts?.unsure ? `, ${counts.unsure} unsure` : ''}
        </p>
        {unsent > 0 && (
          <p class="hint" role="status">
            {many(unsent, 'answer')} kept here, not stored yet
          </p>
        )}
        {!blind && <Others session={session} held={held} />}
      </section>
      {!blind && session.live && <Changed session={session} live={session.live} before={before} />}
    </>
  );
}

function Others({ session, held }: { session: Session; held: number }) {
  const open = Math.max(0, (session.leasedCount ?? 0) - held);
  const waiting = session.waitingCount ?? 0;
  const parts = [
    ...(open ? [`${many(open, 'question')} with other labelers`] : []),
    // (This page is no waiting one while it has a question.)
    ...(held && waiting ? [`${many(waiting, 'labeler')} waiting for one`] : []),
  ];
  return <p class="others">{parts.length ? parts.join(', ') : 'Nobody else is labelling now.'}</p>;
}

interface ChangedProps {
  session: Session;
  live: LiveEvidence;
  before: LiveEvidence | undefined;
}

function Changed({ session, live, before }: ChangedProps) {
  // (A strategy that chooses without the atlas has its figures all the same.)
  const whose = hasAtlas(session) ? '' : ', by the atlas';
  const metric = wordOf(live.quality?.metric, 'METRIC_') || 'quality';
  const rows: [string, string, string | undefined][] = [
    ['gamma', figure(live.gamma, 4), before && figure(before.gamma, 4)],
    ['C', figure(live.c, 3), before && figure(before.c, 3)],
    ['columns', wordOf(live.scaling, 'SCALING_KIND_'), before && wordOf(before.scaling, 'SCALING_KIND_')],
    [metric, quality(live), before && quality(before)],
    ['gain of 10 more', figure(live.expectedGain, 2), before && figure(before.expectedGain, 2)],
    ['rows outside', String(live.outsideCount ?? 0), before && String(before.outsideCount ?? 0)],
  ];
  return (
    <section class="card" aria-labelledby="changed">
      <h2 id="changed">
        After {many(live.labels ?? 0, 'label')}
        {whose}
      </h2>
      <table class="changed">
        <caption class="unseen">The best model on the labels, before the last answer and now</caption>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col" class="number">
              Before
            </th>
            <th scope="col" class="number">
              Now
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, now, earlier]) => (
            <tr key={name} class={earlier !== undefined && earlier !== now ? 'new' : ''}>
              <th scope="row">{name}</th>
              <td class="number">{earlier ?? '–'}</td>
              <td class="number">{now}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {live.advice && <p class="advice">{live.advice}</p>}
    </section>
  );
}

function quality({ quality }: LiveEvidence): string {
  if (quality?.value === undefined) return '–';
  const { interval } = quality;
  return figure(quality.value, 2) + (interval ? ` [${figure(interval.low, 2)}, ${figure(interval.high, 2)}]` : '');
}
