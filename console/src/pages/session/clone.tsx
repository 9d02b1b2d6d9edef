/** Starts another session with the same settings, and its labels if they are wanted. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call';
import { newId } from '../../api/id';
import type { Session } from '../../api/schema';
import { go, idOf } from '../../shell/route';
import { Dialog } from '../../ui/dialog';

export function Clone({ session, close }: { session: Session; close: () => void }) {
  const total = session.counts?.total ?? 0;
  const budgetBefore = session.config?.budget ?? 0;
  const [requestId] = useState(newId);
  const [title, setTitle] = useState(session.displayName ?? '');
  const [withLabels, setWithLabels] = useState(false);
  const [budget, setBudget] = useState(String(budgetBefore));
  // Labels that are taken over count against the budget, and something has to be left to ask.
  const least = withLabels ? total + 1 : 1;
  const act = async () => {
    const { session: made } = await call<{ session: Session }>('/v1/sessions', {
      body: {
        dataset: session.dataset,
        displayName: title,
        config: { ...session.config, budget: Number(budget) },
        labels: session.labels,
        requestId,
        ...(withLabels ? { fromSession: session.name } : {}),
      },
    });
    go('sessions', idOf(made.name ?? ''));
  };
  return (
    <Dialog title="Clone the session" action="Clone" act={act} close={close}>
      <p>The new session is on the same dataset, with the same settings.</p>
      <label>
        Name
        <input value={title} maxLength={128} onInput={(event) => setTitle(event.currentTarget.value)} />
      </label>
      {total > 0 && (
        <label>
          <input
            type="checkbox"
            checked={withLabels}
            onChange={(event) => setWithLabels(event.currentTarget.checked)}
          />{' '}
          Start with the {total} labels of this session
        </label>
      )}
      <label>
        Budget: number of labels{withLabels ? `, of which ${total} are there` : ''}
        <input
          type="number"
          required
          min={least}
          max={session.observationCount}
          value={budget}
          onInput={(event) => setBudget(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  );
}
