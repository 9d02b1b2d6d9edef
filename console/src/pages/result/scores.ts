/** The scores of all rows of a result's dataset, fetched part by part. */
import { useEffect, useState } from 'preact/hooks';
import { call, path } from '../../api/call';
import type { Observation, RowScore, ScoreResponse } from '../../api/schema';
import type { DetectorName } from './cut';

/** Rows that one request asks for. */
const AT_ONCE = 5000;
/** Rows that one request lists by their numbers. */
const LISTED_AT_ONCE = 500;

export interface Scores {
  /** Scores by row; the refined detector's are absent if the model has none. */
  svdd: Float64Array;
  refined?: Float64Array;
}

export interface Scoring {
  /** Absent until all rows are judged. */
  scores?: Scores;
  done: number;
  error?: unknown;
}

/** Judge all rows of the dataset of a result by both of its detectors. */
export function useScores(result: string, count: number, refined: boolean): Scoring {
  const [state, setState] = useState<Scoring>({ done: 0 });
  useEffect(() => {
    const ending = new AbortController();
    const scores: Scores = { svdd: new Float64Array(count) };
    if (refined) scores.refined = new Float64Array(count);
    setState({ done: 0 });
    const judge = async () => {
      for (let first = 0; first < count; first += AT_ONCE) {
        const rows = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, i) => first + i);
        const found = await scoreRows(result, rows, refined ? 'refined' : 'svdd', 0, ending.signal);
        found.forEach((one, i) => {
          scores.svdd[first + i] = one.distance ?? 0;
          if (scores.refined) scores.refined[first + i] = one.refinedScore ?? 0;
        });
        const done = first + rows.length;
        setState(done < count ? { done } : { done, scores });
      }
    };
    judge().catch((error: unknown) => !ending.signal.aborted && setState((last) => ({ ...last, error })));
    return () => ending.abort();
  }, [result, count, refined]);
  return state;
}

/** Judge some rows of the dataset of a result, with so many reasons for each. */
export async function scoreRows(
  result: string,
  rows: number[],
  detector: DetectorName,
  reasonCount: number,
  signal: AbortSignal,
): Promise<RowScore[]> {
  const body = {
    detector: detector === 'refined' ? 'DETECTOR_REFINED' : 'DETECTOR_SVDD',
    reasonCount,
    datasetRows: rows,
  };
  return (await call<ScoreResponse>(path`/v1/${result}:score`, { body, signal })).scores ?? [];
}

/** Ids and display fields of some rows, in their order. */
export async function describeRows(
  dataset: string,
  rows: number[],
  signal: AbortSignal,
): Promise<Observation[]> {
  const found: Observation[] = [];
  while (found.length < rows.length) {
    const wanted = rows.slice(found.length, found.length + LISTED_AT_ONCE);
    const query = wanted.map((row) => `rows=${row}`).join('&');
    const page = await call<{ observations?: Observation[] }>(
      path`/v1/${dataset}/observations` + `?${query}`,
      { signal },
    );
    if (!page.observations?.length) break;
    found.push(...page.observations);
  }
  return found;
}

/** All observations of a dataset, page by page. */
export async function* allObservations(dataset: string, signal?: AbortSignal): AsyncGenerator<Observation[]> {
  let token = '';
  do {
    const query = new URLSearchParams({ pageSize: '10000', pageToken: token });
    const page = await call<{ observations?: Observation[]; nextPageToken?: string }>(
      path`/v1/${dataset}/observations` + `?${query}`,
      signal ? { signal } : {},
    );
    yield page.observations ?? [];
    token = page.nextPageToken ?? '';
  } while (token);
}
