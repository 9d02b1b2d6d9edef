/** Why there is no question, or why there need be none, and what to do. */
import { useState } from 'preact/hooks';
import { call, path } from '../../api/call';
import { may } from '../../api/caller';
import type { FinishReason, Session } from '../../api/schema';
import { idOf, to } from '../../shell/route';
import { ErrorNotice } from '../../ui/notice';
import { visible } from '../../ui/visible';
import { claimTags } from './labeler';
import { finished, waiting } from './words';

interface NoQuestionProps {
  session: Session | undefined;
  finish: FinishReason | undefined;
  /** Ask for a question again. */
  again: () => void;
}

export function NoQuestion({ session, finish, again }: NoQuestionProps) {
  if (finish && finish !== 'FINISH_REASON_UNSPECIFIED') return <Ended session={session} reason={finish} again={again} />;
  const paused = session?.state === 'SESSION_STATE_PAUSED';
  return (
    <div class="card standstill" role="status">
      <p>{waiting(session)}</p>
      {paused && may.steer.value && <Steer session={session} action="resume" name="Resume the session" />}
    </div>
  );
}

function Ended({ session, reason, again }: { session: Session | undefined; reason: FinishReason; again: () => void }) {
  const failed = reason === 'FINISH_REASON_FAILED';
  const id = idOf(session?.name ?? '');
  return (
    <div class="card standstill" role="status">
      <h2>{finished(reason)}</h2>
      {reason === 'FINISH_REASON_TAGS_MISSING' && <Tags wanted={session?.config?.requiredTags ?? []} again={again} />}
      {failed && session?.failure?.message && <p>{visible(session.failure.message)}</p>}
      {failed && may.steer.value && session && <Steer session={session} action="resume" name="Try again" />}
      {session?.state === 'SESSION_STATE_ESTIMATING' && <p>Thank you. The result is being computed.</p>}
      {session?.state === 'SESSION_STATE_COMPLETED' && (
        <p>
          Thank you. The result is there:{' '}
          <a class="button main" href={to('sessions', id, 'result')}>
            See what was found
          </a>
        </p>
      )}
      <p>
        {id && <a href={to('sessions', id)}>The session</a>} · <a href={to('label')}>Label another session</a> ·{' '}
        <a href={to()}>All sessions</a>
      </p>
    </div>
  );
}

/** Nobody checks what labelers say of themselves, so a click says it. */
function Tags({ wanted, again }: { wanted: readonly string[]; again: () => void }) {
  const claim = () => {
    claimTags(wanted);
    again();
  };
  return (
    <>
      <p>
        Its questions are for people who know: <strong>{wanted.join(', ')}</strong>.
      </p>
      <button type="button" class="main" onClick={claim}>
        I do
      </button>
    </>
  );
}

/** More labels are not worth their price: who may finish the session can do so here. */
export function StopAdvised({ session }: { session: Session }) {
  if (!session.live?.stop || session.config?.blind) return null;
  return (
    <div class="notice warning" role="status">
      <p>{session.live.advice}</p>
      {may.steer.value && session.state === 'SESSION_STATE_LABELING' && (
        <Steer session={session} action="finish" name="Finish the session" />
      )}
    </div>
  );
}

function Steer({ session, action, name }: { session: Session; action: 'resume' | 'finish'; name: string }) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const actions = { resume: path`/v1/${session.name ?? ''}:resume`, finish: path`/v1/${session.name ?? ''}:finish` };
      await call(actions[action], { body: {} });
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" class="main" disabled={busy} onClick={() => void act()}>
        {name}
      </button>
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  );
}
