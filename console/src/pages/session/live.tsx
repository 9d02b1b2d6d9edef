/** Where a session stands: what stops it, how far it is, and the figures on the labels so far. */
import type { ComponentChildren } from 'preact';
import type { LiveEvidence, Session } from '../../api/schema';
import { figure, many, percent } from '../../ui/format';
import { hasAtlas } from '../../ui/strategy';
import { evidence, metric, quality, representation, stallWords, stopAdvised, unspent, withInterval } from './words';

/** Why nothing goes on, and what the session advises. */
export function Notices({ session }: { session: Session }) {
  const stall = stallWords(session);
  const { failure, live } = session;
  return (
    <>
      {session.state === 'SESSION_STATE_FAILED' && failure?.message && (
        <p class="notice error" role="alert">
          {failure.message} <code>{failure.reason}</code>
        </p>
      )}
      {stall && (
        <p class="notice warning" role="status">
          {stall}
        </p>
      )}
      {live?.advice && unspent(session) && (
        <p class={`notice ${stopAdvised(session) ? 'warning' : ''}`} role="status">
          <strong>{stopAdvised(session) ? 'More labels are hardly worth their price. ' : 'Advice: '}</strong>
          {live.advice}
        </p>
      )}
    </>
  );
}

/** Labels of the budget, and who is at work. */
export function Progress({ session }: { session: Session }) {
  const { counts } = session;
  const [total, budget] = [counts?.total ?? 0, session.config?.budget ?? 0];
  const preparing = session.state === 'SESSION_STATE_PREPARING';
  const share = session.atlasProgress ?? 0;
  return (
    <section class="progress" aria-label="Progress">
      <label>
        <span>
          <strong>
            {total} of {budget} labels
          </strong>
          : {many(counts?.inlier ?? 0, 'inlier')}, {many(counts?.outlier ?? 0, 'outlier')}
          {counts?.unsure ? `, and ${counts.unsure} unsure` : ''}
        </span>
        <progress value={total} max={Math.max(1, budget)} />
      </label>
      {hasAtlas(session) && share < 1 && (preparing || share > 0) && (
        <label>
          <span>Atlas of (gamma, C): {percent(share)} computed</span>
          <progress value={share} max={1} />
        </label>
      )}
      <p class="hint">
        Out: {many(session.leasedCount ?? 0, 'question')}; waiting: {many(session.waitingCount ?? 0, 'labeler')}
        {session.awaitingVotes ? `; awaiting a further vote: ${many(session.awaitingVotes, 'labelled observation')}` : ''}
        {session.awaitingAdjudication ? `; awaiting an adjudicator: ${many(session.awaitingAdjudication, 'observation')}` : ''}.
        {session.rankingPending ? ' The next questions are being chosen.' : ''}
      </p>
    </section>
  );
}

/** gamma, C and all that tells how good they are. */
export function Figures({ session }: { session: Session }) {
  const { live } = session;
  // A strategy that chooses without the atlas may have its figures all the same.
  if (!hasAtlas(session)) {
    return (
      <>
        <Own session={session} />
        {live && <OfAtlas session={session} live={live} title={`By the atlas, on ${many(live.labels ?? 0, 'label')}`} />}
      </>
    );
  }
  if (!live) return <Own session={session} />;
  return <OfAtlas session={session} live={live} title={`On ${many(live.labels ?? 0, 'label')}`} />;
}

/** What the session has chosen itself, without the atlas or before it is there. */
function Own({ session }: { session: Session }) {
  return (
    <section aria-labelledby="figures">
      <h2 id="figures">So far</h2>
      <p class="hint">{whyNone(session)}</p>
      <dl class="measures">
        <Item name="gamma">{figure(session.gamma)}</Item>
        <Item name="Representation">{representation(session.scaling)}</Item>
        {session.alignment !== undefined && (
          <Item name="Alignment" note="of the kernel with the labels, from -1 to 1">
            {figure(session.alignment)}
          </Item>
        )}
      </dl>
    </section>
  );
}

function OfAtlas({ session, live, title }: { session: Session; live: LiveEvidence; title: string }) {
  const share = live.outlierShare;
  return (
    <section aria-labelledby="of-atlas">
      <h2 id="of-atlas">{title}</h2>
      {!hasAtlas(session) && (
        <p class="hint">These are the figures of the atlas's best cell. The session's own strategy does not use them.</p>
      )}
      <dl class="measures">
        <Item name="gamma">{figure(live.gamma)}</Item>
        <Item name="C">{figure(live.c)}</Item>
        <Item name="Representation">{representation(live.scaling)}</Item>
        {live.quality && (
          <Item name={capital(metric(live.quality.metric))} note={evidence(live.quality.kind)}>
            {quality(live.quality)}
          </Item>
        )}
        {live.expected !== undefined && (
          <Item name="Expected on all rows" note="by the labels' model of the data; pessimistic">
            {figure(live.expected)}
          </Item>
        )}
        {share && (
          <Item
            name="Share of outliers"
            note={share.method === 'METHOD_AUDIT' ? 'from the audited rows' : "by the labels' model of the data"}
          >
            {withInterval(share.value, share.interval, (value) => percent(value ?? 0))}
          </Item>
        )}
        <Item name="Rows outside" note={`of ${session.observationCount}`}>
          {live.outsideCount ?? 0}
        </Item>
        {live.expectedGain !== undefined && (
          <Item name="Ten more labels" note="expected gain of Cohen's kappa on all rows">
            {live.expectedGain < 0.001 ? 'gain hardly anything' : `+${figure(live.expectedGain, 2)}`}
          </Item>
        )}
      </dl>
    </section>
  );
}

function Item({ name, note, children }: { name: string; note?: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}
        {note && <small>{note}</small>}
      </dd>
    </div>
  );
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function whyNone(session: Session): string {
  if (!hasAtlas(session)) {
    return 'This strategy chooses gamma by the alignment with the labels, and C when the session is finished.';
  }
  if ((session.atlasProgress ?? 0) < 1) return 'Figures are there once the atlas is complete and there is a label.';
  return 'Figures are there after the first label.';
}
