/** Sends the file, shows the service's estimate, and starts the session or takes the file back. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, path, ServiceError } from '../../api/call';
import { may } from '../../api/caller';
import { newId } from '../../api/id';
import type { Dataset, Session } from '../../api/schema';
import { go, idOf } from '../../shell/route';
import { ErrorNotice } from '../../ui/notice';
import { visible } from '../../ui/visible';
import type { Role } from './file/choice';
import { duration, size } from './file/cost';
import type { Encoded } from './file/encode';
import type { Reader } from './file/reader';
import { Refusal } from './file/refusal';
import { configOf, type Settings } from './settings';
import { upload, type Stored } from './upload';

type Step =
  | { kind: 'choosing' }
  | { kind: 'sending'; share: number; since: number; away: boolean }
  | { kind: 'stored'; stored: Stored; labels: Encoded['labels'] }
  | { kind: 'starting'; stored: Stored; labels: Encoded['labels'] };

interface SendingProps {
  reader: Reader;
  roles: Role[];
  outlierValue: string | undefined;
  settings: Settings;
  /** The dataset's name for people. */
  name: string;
  ready: boolean;
  /** Tells whether the dataset is stored, and how many labels are known. */
  stored: (is: boolean, known: number) => void;
  forget: () => void;
}

const MOST_LABELS = 10_000;

export function Sending(props: SendingProps) {
  const { reader, roles, outlierValue, settings, name, ready } = props;
  const [step, setStep] = useState<Step>({ kind: 'choosing' });
  const [error, setError] = useState<unknown>();
  const ending = useRef<AbortController | undefined>(undefined);
  const requestId = useRef(newId());
  useEffect(() => () => ending.current?.abort(), []);

  const send = async () => {
    setError(undefined);
    const own = new AbortController();
    ending.current = own;
    const since = Date.now();
    setStep({ kind: 'sending', share: 0, since, away: false });
    props.stored(true, 0);
    try {
      const encoded = await reader.encode(roles, outlierValue);
      own.signal.throwIfAborted();
      if (encoded.labels.length > MOST_LABELS) {
        throw new Refusal('INVALID_FIELD', `A session starts with at most ${MOST_LABELS.toLocaleString('en')} labels`);
      }
      const scaling = `SCALING_KIND_${settings.scaling}`;
      const stored = await upload(encoded, { displayName: name, scaling }, own.signal, (share, away) =>
        setStep({ kind: 'sending', share, since, away }),
      );
      props.stored(true, encoded.labels.length);
      setStep({ kind: 'stored', stored, labels: encoded.labels });
    } catch (failure) {
      props.stored(false, 0);
      setStep({ kind: 'choosing' });
      if (!own.signal.aborted) setError(failure);
    }
  };
  const request = (stored: Stored, labels: Encoded['labels']) => ({
    dataset: stored.dataset.name,
    displayName: settings.name,
    config: configOf(settings),
    [settings.controls ? 'controls' : 'initialLabels']: labels.map((one) => ({
      observationId: one.observationId,
      verdict: `VERDICT_${one.verdict}`,
    })),
  });
  const start = async (stored: Stored, labels: Encoded['labels']) => {
    setError(undefined);
    setStep({ kind: 'starting', stored, labels });
    try {
      const body = { ...request(stored, labels), requestId: requestId.current };
      const { session } = await call<{ session: Session }>('/v1/sessions', { body });
      const id = idOf(session.name ?? '');
      if (may.label.value) go('sessions', id, 'label');
      else go('sessions', id);
    } catch (failure) {
      setError(failure);
      setStep({ kind: 'stored', stored, labels });
    }
  };
  const takeBack = async ({ dataset, alreadyExisted }: Stored) => {
    // A dataset that was there before, or that a session uses by now, stays.
    if (!alreadyExisted && may.administer.value) {
      try {
        await call(path`/v1/${dataset.name ?? ''}`, { method: 'DELETE' });
      } catch (failure) {
        if (!(failure instanceof ServiceError)) {
          setError(failure);
          return;
        }
      }
    }
    props.forget();
  };

  return (
    <div class="sending">
      {error !== undefined &&
        (error instanceof Refusal ? (
          <p class="notice error" role="alert">
            {visible(error.message)} <code>{error.reason}</code>
          </p>
        ) : (
          <ErrorNotice error={error} />
        ))}
      {step.kind === 'choosing' && (
        <div class="row">
          <button type="button" class="main" disabled={!ready} onClick={() => void send()}>
            Send the data
          </button>
          <button type="button" onClick={props.forget}>
            Another file
          </button>
        </div>
      )}
      {step.kind === 'sending' && (
        <>
          <p role="status">
            {step.away ? 'The service cannot be reached; the upload goes on by itself.' : `Sending … ${left(step)}`}
          </p>
          <progress value={step.share} aria-label="Share of the data that is sent" />
          <p>
            <button type="button" onClick={() => ending.current?.abort()}>
              Cancel
            </button>
          </p>
        </>
      )}
      {(step.kind === 'stored' || step.kind === 'starting') && (
        <>
          <Kept {...step.stored} />
          {step.labels.length > 0 && <p>{step.labels.length.toLocaleString('en')} labels are known.</p>}
          <Estimate key={settings.strategy} request={request(step.stored, [])} />
          <div class="row">
            <StartButton busy={step.kind === 'starting'} start={() => void start(step.stored, step.labels)} />
            <button type="button" disabled={step.kind === 'starting'} onClick={() => void takeBack(step.stored)}>
              Cancel
            </button>
          </div>
        </>
      )}
    </div>
  );
}

/** The next step has the focus, so that Enter is enough. */
function StartButton({ busy, start }: { busy: boolean; start: () => void }) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <button ref={ref} type="button" class="main" disabled={busy} onClick={start}>
      {may.label.value ? 'Start labelling' : 'Start the session'}
    </button>
  );
}

function Kept({ dataset, alreadyExisted }: { dataset: Dataset; alreadyExisted: boolean }) {
  const repeated = dataset.duplicateRowCount ?? 0;
  return (
    <>
      <p role="status">
        {alreadyExisted
          ? 'The service had the same content already, and uses it.'
          : `The data are stored as ${dataset.name}.`}
      </p>
      {repeated > 0 && (
        <p class="hint">
          {repeated.toLocaleString('en')} {repeated === 1 ? 'row equals an earlier row' : 'rows equal earlier rows'}.
        </p>
      )}
    </>
  );
}

/** What the session will cost, by the service itself; nothing is created. */
function Estimate({ request }: { request: Record<string, unknown> }) {
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const ending = new AbortController();
    call<{ session: Session }>('/v1/sessions', { body: { ...request, validateOnly: true }, signal: ending.signal }).then(
      (checked) => setSession(checked.session),
      (failure: unknown) => !ending.signal.aborted && setError(failure),
    );
    return () => ending.abort();
  }, []);
  if (error !== undefined) return <ErrorNotice error={error} />;
  const cost = session?.estimate;
  return (
    <p class="estimate" role="status">
      {cost
        ? `The first question comes after about ${duration(cost.firstQuerySeconds ?? 0)} with one free worker, ` +
          `which needs about ${size(Number(cost.workerMemoryBytes ?? 0))} of memory.`
        : 'Asking what it will cost …'}
    </p>
  );
}

function left({ share, since }: { share: number; since: number }): string {
  const percent = `${Math.round(100 * share)} %`;
  const seconds = (Date.now() - since) / 1000;
  if (share >= 1) return `${percent}, the service checks the data`;
  if (share < 0.02 || seconds < 2) return percent;
  return `${percent}, about ${duration((seconds * (1 - share)) / share)} left`;
}
