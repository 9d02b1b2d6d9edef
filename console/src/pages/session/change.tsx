/** Changes the budget and the name that people see. */
import { useState } from 'preact/hooks';
import { call, path, ServiceError } from '../../api/call';
import type { Session } from '../../api/schema';
import { Dialog } from '../../ui/dialog';

interface ChangeProps {
  session: Session;
  show: (session: Session) => void;
  close: () => void;
}

export function Change({ session, show, close }: ChangeProps) {
  // Labels that arrive meanwhile change the session, but neither of these two fields.
  const [known, setKnown] = useState(session);
  const [budget, setBudget] = useState(String(session.config?.budget ?? ''));
  const [title, setTitle] = useState(session.displayName ?? '');
  const name = session.name ?? '';
  const act = async () => {
    const changed = {
      ...(title === known.displayName ? {} : { displayName: title }),
      ...(Number(budget) === known.config?.budget ? {} : { config: { budget: Number(budget) } }),
    };
    const fields = [...('displayName' in changed ? ['displayName'] : []), ...('config' in changed ? ['config.budget'] : [])];
    if (!fields.length) return;
    const current = await latest(known);
    try {
      const answer = await call<{ session: Session }>(
        `${path`/v1/${name}`}?updateMask=${encodeURIComponent(fields.join(','))}`,
        { method: 'PATCH', body: { name, etag: current.etag, ...changed } },
      );
      show(answer.session);
    } catch (error) {
      if (!(error instanceof ServiceError && error.reason === 'ETAG_MISMATCH')) throw error;
      throw told(error);
    }
  };
  /** The session as it is now. Throws if somebody else has changed what this form changes. */
  const latest = async (seen: Session): Promise<Session> => {
    const { session: now } = await call<{ session: Session }>(path`/v1/${name}`);
    if (now.displayName !== seen.displayName || now.config?.budget !== seen.config?.budget) {
      setKnown(now);
      throw new ServiceError(
        409,
        'ETAG_MISMATCH',
        `Somebody else has changed the session: its name is now “${now.displayName || '–'}”, its budget ` +
          `${now.config?.budget}. Press Change again to set what this form says.`,
      );
    }
    return now;
  };
  return (
    <Dialog title="Change the session" action="Change" act={act} close={close}>
      <label>
        Name
        <input value={title} maxLength={128} onInput={(event) => setTitle(event.currentTarget.value)} />
      </label>
      <label>
        Budget: number of labels, up to {session.observationCount}
        <input
          type="number"
          required
          min={Math.max(1, session.counts?.total ?? 1)}
          max={session.observationCount}
          value={budget}
          onInput={(event) => setBudget(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  );
}

function told(error: ServiceError): ServiceError {
  return new ServiceError(
    error.status,
    error.reason,
    'The session has changed in this moment, so nothing was changed. Press Change again.',
  );
}
