/** What a session has found. */
import { useMemo, useState } from 'preact/hooks';
import { call, path } from '../../api/call';
import { may } from '../../api/caller';
import type { Dataset, ListResultsResponse, Session, TuningResult } from '../../api/schema';
import { token } from '../../api/token';
import { go, idOf, sessionName, to } from '../../shell/route';
import { ago, wordOf } from '../../ui/format';
import { useLoad } from '../../ui/load';
import { ErrorNotice, Loading } from '../../ui/notice';
import { visible } from '../../ui/visible';
import { countOutside, OWN_CUT, ranked, type DetectorName, type Labelled } from './cut';
import { Curves } from './curves';
import { Detectors } from './detectors';
import { Downloads } from './downloads';
import './result.css';
import { Rows } from './rows';
import { Rules } from './rules';
import { useScores } from './scores';
import { Summary } from './summary';
import { Threshold } from './threshold';

interface Loaded {
  session: Session;
  dataset: Dataset;
  /** Newest first, without their curves. */
  results: TuningResult[];
  /** Absent while there is none. */
  result?: TuningResult;
}

/** `revision` is the number of a result; empty for the latest. */
export function ResultPage({ id, revision }: { id: string; revision: string }) {
  const { value, error } = useLoad((signal) => load(id, revision, signal), [id, revision, may.read.value]);
  if (!may.read.value) return <NotForLabelers id={id} />;
  if (error !== undefined) return <ErrorNotice error={error} />;
  if (!value) return <Loading what="the result" />;
  const { session, result } = value;
  return (
    <>
      <nav aria-label="Place">
        <a href={to('sessions', id)}>Back to the session</a>
      </nav>
      <h1>
        Result: <bdi>{visible(session.displayName || id)}</bdi>
      </h1>
      {result ? <Result key={result.name} {...value} result={result} /> : <None session={session} />}
    </>
  );
}

async function load(id: string, revision: string, signal: AbortSignal): Promise<Loaded> {
  const name = sessionName(id);
  const { session } = await call<{ session: Session }>(path`/v1/${name}`, { signal });
  const [{ dataset }, listed] = await Promise.all([
    call<{ dataset: Dataset }>(path`/v1/${session.dataset ?? ''}`, { signal }),
    call<ListResultsResponse>(path`/v1/${name}/results`, { signal }),
  ]);
  const results = listed.results ?? [];
  if (!results.length && !revision) return { session, dataset, results };
  const wanted = `${name}/results/${revision || '-'}`;
  const { result } = await call<{ result: TuningResult }>(path`/v1/${wanted}`, { signal });
  return { session, dataset, results, result };
}

function NotForLabelers({ id }: { id: string }) {
  return (
    <>
      <h1>Result</h1>
      <p>Your role, labeler, does not see results.</p>
      <a class="button main" href={to('sessions', id, 'label')}>
        Label
      </a>
    </>
  );
}

function None({ session }: { session: Session }) {
  const id = idOf(session.name ?? '');
  return (
    <section class="card">
      <p>
        There is no result yet: the session is {wordOf(session.state, 'SESSION_STATE_')}, with{' '}
        {session.counts?.total ?? 0} of {session.config?.budget} labels. It comes when the budget is spent, or when
        somebody finishes the session.
      </p>
      <p class="row">
        {may.label.value && (
          <a class="button main" href={to('sessions', id, 'label')}>
            Label
          </a>
        )}
        <a class="button" href={to('sessions', id)}>
          The session
        </a>
      </p>
    </section>
  );
}

function Result({ session, dataset, results, result }: Loaded & { result: TuningResult }) {
  const id = idOf(session.name ?? '');
  const name = result.name ?? '';
  const [detector, setDetector] = useState<DetectorName>('svdd');
  const [cut, setCut] = useState(OWN_CUT.svdd);
  const scoring = useScores(name, dataset.observationCount ?? 0, result.refined !== undefined);
  const labels = useMemo(() => labelsOf(result), [result]);
  const shown = scoring.scores?.[detector];
  const order = useMemo(() => shown && ranked(shown), [shown]);
  const labelled = useMemo(
    () => shown && Array.from(labels, ([row, outlier]): Labelled => ({ score: shown[row] ?? 0, outlier })),
    [shown, labels],
  );
  const outside = shown && order ? countOutside(shown, order, detector, cut) : 0;
  const choose = (one: DetectorName) => {
    setDetector(one);
    setCut(OWN_CUT[one]);
  };
  const subject = {
    id,
    result,
    dataset,
    file: `${id}-${idOf(name)}`,
    signedIn: token.value !== '',
    origin: location.origin,
  };
  return (
    <>
      {results.length > 1 && <Revisions id={id} results={results} current={name} />}
      <div class="result">
        <div class="stack">
          <Summary result={result} />
          <Detectors result={result} detector={detector} choose={choose} />
          {scoring.error !== undefined && <ErrorNotice error={scoring.error} />}
          {!scoring.scores && scoring.error === undefined && (
            <Judging done={scoring.done} count={dataset.observationCount ?? 0} />
          )}
          {shown && labelled && <Threshold {...{ detector, labelled, cut, outside, setCut }} scores={shown} />}
        </div>
        {shown && order && (
          <Rows
            key={detector}
            result={name}
            dataset={dataset.name ?? ''}
            {...{ detector, order, outside, labels }}
            scores={shown}
          />
        )}
      </div>
      <div class="stack">
        <Rules result={result} />
        <Curves result={result} />
      </div>
      <Downloads {...{ subject, detector, cut, labels }} session={session.name ?? ''} scores={scoring.scores} />
    </>
  );
}

function Judging({ done, count }: { done: number; count: number }) {
  return (
    <section class="card">
      <label>
        Judging {count.toLocaleString('en')} rows
        <progress max={count} value={done} />
      </label>
    </section>
  );
}

function Revisions({ id, results, current }: { id: string; results: TuningResult[]; current: string }) {
  return (
    <label class="revisions">
      Result
      <select value={current} onChange={(event) => go('sessions', id, 'result', idOf(event.currentTarget.value))}>
        {results.map((one) => (
          <option key={one.name} value={one.name}>
            {idOf(one.name ?? '')}, {ago(one.createTime)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The labels that the result was computed from, by row: whether each is "outlier". */
function labelsOf(result: TuningResult): Map<number, boolean> {
  const found = new Map<number, boolean>();
  const { labeledRows = [], verdicts = [] } = result.manifest ?? {};
  labeledRows.forEach((row, i) => {
    const verdict = verdicts[i];
    if (verdict === 'VERDICT_INLIER' || verdict === 'VERDICT_OUTLIER') {
      found.set(row, verdict === 'VERDICT_OUTLIER');
    }
  });
  return found;
}
