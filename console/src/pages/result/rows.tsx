/** The rows of the dataset, the farthest outside first, with what makes them so. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Observation, UnusualFeature } from '../../api/schema';
import { figure } from '../../ui/format';
import { useLoad } from '../../ui/load';
import { ErrorNotice, Loading } from '../../ui/notice';
import { visible } from '../../ui/visible';
import type { DetectorName } from './cut';
import { allObservations, describeRows, scoreRows } from './scores';

const PER_PAGE = 25;
const REASONS = 3;

interface RowsProps {
  result: string;
  dataset: string;
  detector: DetectorName;
  scores: Float64Array;
  /** All rows, the farthest outside first; the first `outside` of them are outside. */
  order: Uint32Array;
  outside: number;
  /** Labels by row: whether the label is "outlier". */
  labels: Map<number, boolean>;
}

export function Rows({ result, dataset, detector, scores, order, outside, labels }: RowsProps) {
  const [all, setAll] = useState(false);
  const [sought, setSought] = useState('');
  const [page, setPage] = useState(0);
  const found = useFound(dataset, sought, scores.length);
  const rows = useMemo(() => {
    const shown = all ? order : order.subarray(0, outside);
    return found.rows ? shown.filter((row) => found.rows?.has(row)) : shown;
  }, [order, outside, all, found.rows]);
  const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
  const current = Math.min(page, pages - 1);
  const shown = Array.from(rows.subarray(current * PER_PAGE, (current + 1) * PER_PAGE));
  return (
    <section class="card" aria-labelledby="rows">
      <h2 id="rows">{all ? 'All rows' : 'Rows outside'}</h2>
      <div class="row">
        <label>
          Search by id
          <input
            type="search"
            value={sought}
            onInput={(event) => {
              setSought(event.currentTarget.value);
              setPage(0);
            }}
          />
        </label>
        <label class="inline">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> Rows inside,
          too
        </label>
      </div>
      {found.error !== undefined && <ErrorNotice error={found.error} />}
      <p role="status" class="hint">
        {found.busy ? 'Searching …' : `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'}`}
      </p>
      {shown.length > 0 && <Table {...{ result, dataset, detector, scores, labels }} rows={shown} />}
      {shown.length > 0 && (
        <p class="hint">σ is the column's robust standard deviation, over all rows of the dataset.</p>
      )}
      {pages > 1 && (
        <nav class="row" aria-label="Pages of rows">
          <button type="button" disabled={current === 0} onClick={() => setPage(current - 1)}>
            Nearer to the top
          </button>
          <span>
            Page {current + 1} of {pages.toLocaleString('en')}
          </span>
          <button type="button" disabled={current === pages - 1} onClick={() => setPage(current + 1)}>
            Further down
          </button>
        </nav>
      )}
    </section>
  );
}

type TableProps = Pick<RowsProps, 'result' | 'dataset' | 'detector' | 'scores' | 'labels'> & { rows: number[] };

function Table({ result, dataset, detector, scores, labels, rows }: TableProps) {
  const key = rows.join();
  const { value, error } = useLoad(
    async (signal) => {
      const [described, judged] = await Promise.all([
        describeRows(dataset, rows, signal),
        scoreRows(result, rows, detector, REASONS, signal),
      ]);
      return new Map(rows.map((row, i) => [row, { about: described[i], reasons: judged[i]?.reasons ?? [] }]));
    },
    [result, dataset, detector, key],
  );
  if (error !== undefined) return <ErrorNotice error={error} />;
  if (!value) return <Loading what="the rows" />;
  return (
    <div class="wide" role="region" aria-labelledby="rows" tabIndex={0}>
      <table class="outside">
        <thead>
          <tr>
            <th scope="col">Observation</th>
            <th scope="col" class="number">
              Score
            </th>
            <th scope="col">Label</th>
            <th scope="col">Shown to labelers</th>
            <th scope="col">Most unusual features</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const one = value.get(row);
            const label = labels.get(row);
            return (
              <tr key={row}>
                <th scope="row">
                  <bdi class="id">{visible(one?.about?.observationId ?? String(row))}</bdi>
                  {one?.about && one.about.observationId !== String(row) && <span class="hint nobreak"> row {row}</span>}
                </th>
                <td class="number">{figure(scores[row])}</td>
                <td>{label === undefined ? '–' : label ? 'outlier' : 'inlier'}</td>
                <td>{one?.about && <Shown about={one.about} />}</td>
                <td>{one && <Reasons reasons={one.reasons} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Shown({ about }: { about: Observation }) {
  const fields = about.display ?? [];
  if (!fields.length) return <>–</>;
  return (
    <ul class="plain">
      {fields.map((one, i) => (
        <li key={i}>
          <bdi class="hint">{visible(one.key ?? '')}:</bdi> <bdi>{visible(one.value ?? '')}</bdi>
        </li>
      ))}
    </ul>
  );
}

function Reasons({ reasons }: { reasons: UnusualFeature[] }) {
  return (
    <ul class="plain">
      {reasons.map((one) => (
        <li key={one.column}>
          <bdi>{visible(one.name || `feature ${one.column ?? 0}`)}</bdi> {figure(one.value)}{' '}
          <span class="hint">
            usually {figure(one.typical)}, {(one.deviation ?? 0) > 0 ? '+' : ''}
            {figure(one.deviation, 2)} σ
          </span>
        </li>
      ))}
    </ul>
  );
}

interface Found {
  /** Rows whose ids hold the text that is sought; absent if none is. */
  rows?: Set<number>;
  busy?: boolean;
  error?: unknown;
}

/** Look for a text in the ids of all rows, a page of observations after the other. */
function useFound(dataset: string, sought: string, count: number): Found {
  const [found, setFound] = useState<Found>({});
  useEffect(() => {
    const text = sought.trim().toLowerCase();
    if (!text) {
      setFound({});
      return undefined;
    }
    const ending = new AbortController();
    const rows = new Set<number>();
    setFound((last) => ({ ...last, busy: true }));
    const look = async () => {
      for await (const page of allObservations(dataset, ending.signal)) {
        for (const one of page) {
          if ((one.observationId ?? '').toLowerCase().includes(text)) rows.add(one.row ?? 0);
        }
      }
      setFound({ rows });
    };
    // Who types a text is not finished with its first letter.
    const timer = setTimeout(
      () => look().catch((error: unknown) => !ending.signal.aborted && setFound({ error })),
      count > 10_000 ? 300 : 50,
    );
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [dataset, sought, count]);
  return found;
}
