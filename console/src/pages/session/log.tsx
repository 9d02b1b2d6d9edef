/** The label log: who said what when, newest first; admins retract single votes. */
import { useState } from 'preact/hooks';
import { may, server } from '../../api/caller';
import { call, path } from '../../api/call';
import { newId } from '../../api/id';
import type { LabelEvent, Session } from '../../api/schema';
import { Dialog } from '../../ui/dialog';
import { ago, wordOf } from '../../ui/format';
import { Loading, PartNotice } from '../../ui/notice';
import type { KnownLog } from './votes';
import { takesVotes, VERDICTS } from './words';

const AT_ONCE = 20;
const MORE = 100;

interface LogProps {
  session: Session;
  /** Newest first. */
  log: KnownLog;
}

export function Log({ session, log }: LogProps) {
  const name = session.name ?? '';
  const { all, error, complete, loading, further } = log;
  const [labeler, setLabeler] = useState('');
  const [verdict, setVerdict] = useState('');
  const [shown, setShown] = useState(AT_ONCE);
  const [asked, setAsked] = useState<LabelEvent>();
  const [again, setAgain] = useState<LabelEvent>();
  const begun = complete || all.length > 0;
  const acts = may.steer.value && takesVotes(session);
  // (Who looks for something looks for it in the whole log.)
  const whole = () => {
    if (!complete) further(true);
  };
  const more = () => {
    if (!complete && found.length < shown + MORE) further();
    setShown(shown + MORE);
  };
  const labelers = [...new Set(all.map((one) => one.labeler ?? ''))].sort();
  const found = all.filter(
    (one) => (!labeler || one.labeler === labeler) && (!verdict || one.verdict === verdict),
  );
  return (
    <section aria-labelledby="log">
      <h2 id="log">Log</h2>
      <PartNotice error={error} />
      {loading && <Loading what="the log" />}
      <div class="row filters">
        <label>
          Labeler
          <select value={labeler} onFocus={whole} onChange={(event) => setLabeler(event.currentTarget.value)}>
            <option value="">all</option>
            {labelers.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <label>
          Verdict
          <select value={verdict} onFocus={whole} onChange={(event) => setVerdict(event.currentTarget.value)}>
            <option value="">all</option>
            {Object.entries(VERDICTS).map(([one, word]) => (
              <option key={one} value={one}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <span class="hint" role="status">
          {begun && `${found.length} of ${all.length} entries${complete ? '' : ', and earlier ones'}`}
        </span>
      </div>
      <div class="wide" tabIndex={0} role="region" aria-label="Log">
        <table>
          <thead>
            <tr>
              <th scope="col">Observation</th>
              <th scope="col">Verdict</th>
              <th scope="col">Labeler</th>
              <th scope="col">When</th>
              <th scope="col">Source</th>
              {acts && <th scope="col">Correct</th>}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shown).map((one) => (
              <Row
                key={one.eventId}
                one={one}
                corrects={acts}
                inForce={acts && inForce(one, all)}
                retract={() => setAsked(one)}
                askAgain={() => setAgain(one)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {begun && (found.length > shown || !complete) && (
        <button type="button" disabled={loading} onClick={more}>
          Show more
        </button>
      )}
      {again && <AskAgain session={name} one={again} close={() => setAgain(undefined)} />}
      {asked && <Retract session={name} one={asked} close={() => setAsked(undefined)} />}
    </section>
  );
}

interface RowProps {
  one: LabelEvent;
  /** Whether there is a column of corrections. */
  corrects: boolean;
  inForce: boolean;
  retract: () => void;
  askAgain: () => void;
}

function Row({ one, corrects, inForce, retract, askAgain }: RowProps) {
  const word = VERDICTS[one.verdict ?? ''];
  return (
    <tr>
      <th scope="row">{one.observationId || '–'}</th>
      <td>
        {word && <span class={`vote ${word}`}>{word}</span>}
        {one.kind !== 'KIND_LABELED' && ` ${wordOf(one.kind, 'KIND_')}`}
        {one.confidence !== undefined && ` (${Math.round(100 * one.confidence)} % sure)`}
      </td>
      <td>{one.labeler}</td>
      <td>
        <time dateTime={one.time} title={one.time}>
          {ago(one.time)}
        </time>
      </td>
      <td>
        {one.origin ? `taken over from ${one.origin}` : one.query ? `question ${one.query}` : 'not asked'}
        {one.provenance && `, ${one.provenance}`}
        {one.sourceReference && `, ${one.sourceReference}`}
      </td>
      {corrects && (
        <td>
          {inForce && (
            <div class="row">
              <button type="button" class="small" onClick={askAgain}>
                Ask again <span class="unseen">about {one.observationId}</span>
              </button>
              {may.administer.value && (
                <button type="button" class="small" onClick={retract}>
                  Retract{' '}
                  <span class="unseen">
                    {one.observationId} of {one.labeler}
                  </span>
                </button>
              )}
            </div>
          )}
        </td>
      )}
    </tr>
  );
}

function Retract({ session, one, close }: { session: string; one: LabelEvent; close: () => void }) {
  const [answerId] = useState(newId);
  const labeler = server.value?.caller?.name || 'console';
  const act = () =>
    call(path`/v1/${session}:retract`, {
      body: { labeler, retract: { answerId, observationId: one.observationId, ofLabeler: one.labeler } },
    });
  return (
    <Dialog title="Retract the vote?" action="Retract" act={act} close={close}>
      <p>
        The vote {VERDICTS[one.verdict ?? '']} of {one.labeler} on {one.observationId} no longer counts. The log keeps
        it.
      </p>
    </Dialog>
  );
}

function AskAgain({ session, one, close }: { session: string; one: LabelEvent; close: () => void }) {
  const [requestId] = useState(newId);
  const act = () =>
    call(path`/v1/${session}:reopen`, { body: { observationId: one.observationId, requestId } });
  return (
    <Dialog title="Ask again?" action="Ask again" act={act} close={close}>
      <p>All votes on {one.observationId} are retracted, and labelers are asked about it anew. The log keeps the votes.</p>
    </Dialog>
  );
}

/** Whether an entry is the labeler's vote in force on its observation. `all` is newest first. */
function inForce(one: LabelEvent, all: LabelEvent[]): boolean {
  if (one.kind !== 'KIND_LABELED') return false;
  const last = all.find(
    (other) =>
      other.observationId === one.observationId &&
      other.labeler === one.labeler &&
      (other.kind === 'KIND_LABELED' || other.kind === 'KIND_RETRACTED'),
  );
  return last === one;
}
