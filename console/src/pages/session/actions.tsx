/** What can be done with a session in its state, by those who may. */
import { useState } from 'preact/hooks';
import { may } from '../../api/caller';
import { call, path } from '../../api/call';
import type { Session } from '../../api/schema';
import { go, idOf, to } from '../../shell/route';
import { Dialog } from '../../ui/dialog';
import { many } from '../../ui/format';
import { ErrorNotice } from '../../ui/notice';
import { Change } from './change';
import { Clone } from './clone';
import { stopAdvised, unspent } from './words';

type Verb = 'pause' | 'resume' | 'finish' | 'cancel';
type Asked = 'finish' | 'cancel' | 'delete' | 'change' | 'clone';

const FINAL = ['SESSION_STATE_COMPLETED', 'SESSION_STATE_FAILED', 'SESSION_STATE_CANCELLED'];

interface ActionsProps {
  session: Session;
  show: (session: Session) => void;
}

export function Actions({ session, show }: ActionsProps) {
  const [asked, setAsked] = useState<Asked>();
  const [error, setError] = useState<unknown>();
  const [said, setSaid] = useState('');
  const name = session.name ?? '';
  const id = idOf(name);
  const state = (session.state ?? '').replace('SESSION_STATE_', '');
  const close = () => setAsked(undefined);
  const run = async (verb: Verb, done: string) => {
    const answer = await call<{ session: Session }>(path`/v1/${name}:${verb}`, { body: {} });
    show(answer.session);
    setSaid(done);
  };
  const press = (verb: Verb, done: string) => {
    setError(undefined);
    run(verb, done).catch(setError);
  };
  const steer = may.steer.value;
  const active = state === 'LABELING' || state === 'PAUSED';
  const resumes = state === 'PAUSED' || ((state === 'COMPLETED' || state === 'FAILED') && unspent(session));
  return (
    <div class="actions">
      <div class="row">
        {may.label.value && (state === 'LABELING' || state === 'PREPARING') && (
          <a class="button main" href={to('sessions', id, 'label')}>
            Label
          </a>
        )}
        {session.latestResult && (
          <a class={`button ${active ? '' : 'main'}`} href={to('sessions', id, 'result')}>
            Result
          </a>
        )}
        {steer && active && (
          <button type="button" class={stopAdvised(session) ? 'main' : ''} onClick={() => setAsked('finish')}>
            Finish
          </button>
        )}
        {steer && state === 'LABELING' && (
          <button type="button" onClick={() => press('pause', 'The session is paused.')}>
            Pause
          </button>
        )}
        {steer && resumes && (
          <button type="button" onClick={() => press('resume', 'The session goes on.')}>
            Resume
          </button>
        )}
        {steer && (
          <button type="button" onClick={() => setAsked('change')}>
            Change
          </button>
        )}
        {steer && (
          <button type="button" onClick={() => setAsked('clone')}>
            Clone
          </button>
        )}
        {steer && !FINAL.includes(session.state ?? '') && (
          <button type="button" onClick={() => setAsked('cancel')}>
            Cancel the session
          </button>
        )}
        {may.administer.value && (
          <button type="button" onClick={() => setAsked('delete')}>
            Delete
          </button>
        )}
      </div>
      <p class="unseen" role="status">
        {said}
      </p>
      {error !== undefined && <ErrorNotice error={error} />}
      {asked === 'finish' && (
        <Dialog title="Finish the session?" action="Finish" close={close}
          act={() => run('finish', 'The result is being computed.')}>
          <p>
            Nobody is asked any more, and the result is computed from {many(session.counts?.total ?? 0, 'label')}. While the
            budget of {session.config?.budget} is not spent, the session can be resumed.
          </p>
        </Dialog>
      )}
      {asked === 'cancel' && (
        <Dialog title="Cancel the session?" action="Cancel the session" close={close}
          act={() => run('cancel', 'The session is cancelled.')}>
          <p>It ends without a result, and cannot be resumed. Its labels are kept; another session can take them over.</p>
        </Dialog>
      )}
      {asked === 'delete' && <Delete session={session} close={close} />}
      {asked === 'clone' && <Clone session={session} close={close} />}
      {asked === 'change' && <Change session={session} show={show} close={close} />}
    </div>
  );
}

/** Deletes for good, once its name has been typed. */
function Delete({ session, close }: { session: Session; close: () => void }) {
  const [typed, setTyped] = useState('');
  const name = session.name ?? '';
  const wanted = session.displayName || idOf(name);
  const act = async () => {
    await call(path`/v1/${name}`, { method: 'DELETE' });
    go();
  };
  return (
    <Dialog title="Delete the session?" action="Delete" ready={typed.trim() === wanted.trim()} act={act} close={close}>
      <p>Its labels and results are deleted with it, for good. The dataset stays.</p>
      <label>
        Type <strong>{wanted}</strong> to go ahead
        <input autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
    </Dialog>
  );
}
