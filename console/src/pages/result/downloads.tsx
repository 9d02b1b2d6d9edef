/** What can be taken along: the model, the rows, the labels, and how to use them. */
import { useState } from 'preact/hooks';
import { call, open, path } from '../../api/call';
import type { LabelEvent, ListLabelsResponse } from '../../api/schema';
import { Copyable } from '../../ui/copy';
import { ErrorNotice } from '../../ui/notice';
import { csv, saveFile } from '../../ui/save';
import { isOutside, type DetectorName } from './cut';
import { allObservations, type Scores } from './scores';
import { curlCommand, onnxCommand, pythonCode, reportCommand, sklearnCode, type Subject } from './snippets';

interface DownloadsProps {
  subject: Subject;
  session: string;
  scores: Scores | undefined;
  detector: DetectorName;
  cut: number;
  labels: Map<number, boolean>;
}

export function Downloads({ subject, session, scores, detector, cut, labels }: DownloadsProps) {
  const [busy, setBusy] = useState('');
  const [error, setError] = useState<unknown>();
  const { result, dataset, file } = subject;
  const run = (name: string, work: () => Promise<void>) => async () => {
    setBusy(name);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy('');
    }
  };
  const saveModel = async () => saveFile(`${file}.npz`, await modelFile(result.name ?? ''), 'application/zip');
  const saveRows = async () => {
    if (!scores) return;
    const parts = await rowsFile(dataset.name ?? '', scores, detector, cut, labels);
    saveFile(`${file}-rows.csv`, parts, 'text/csv');
  };
  const saveLabels = async () => saveFile(`${file}-labels.csv`, [await labelsFile(session)], 'text/csv');
  const saveManifest = async () =>
    saveFile(`${file}-manifest.json`, [JSON.stringify(result.manifest, undefined, 2)], 'application/json');
  const files: [string, () => Promise<void>, string, boolean][] = [
    ['Model', saveModel, 'For svddtune predict, Python and readers of your own', true],
    ['Rows with scores', saveRows, 'CSV, every row by both detectors, outside at the cut that is set', !!scores],
    ['Labels', saveLabels, 'CSV, the log of the labels: who said what and when', true],
    ['Manifest', saveManifest, 'JSON, all that the result was computed from', true],
  ];
  return (
    <section class="card downloads" aria-labelledby="downloads">
      <h2 id="downloads">Take it along</h2>
      {error !== undefined && <ErrorNotice error={error} />}
      <ul class="plain files">
        {files.map(([name, work, about, ready]) => (
          <li key={name}>
            <button type="button" disabled={!ready || busy !== ''} onClick={run(name, work)}>
              {busy === name ? `Fetching: ${name} …` : `Download: ${name}`}
            </button>
            <span class="hint">{about}</span>
          </li>
        ))}
      </ul>
      <Copyable title="ONNX, on the command line" text={onnxCommand(subject)} />
      <Copyable title="Report, on the command line" text={reportCommand(subject)} />
      <Copyable title="Python, with the downloaded model" text={pythonCode(subject)} />
      <Copyable title="scikit-learn, with the downloaded model" text={sklearnCode(subject)} />
      <Copyable title="curl, with rows of your own" text={curlCommand(subject)} />
    </section>
  );
}

/** The parts of a result's model file. */
async function modelFile(result: string): Promise<Uint8Array<ArrayBuffer>[]> {
  const lines = (await (await open(path`/v1/${result}:download`)).text()).split('\n');
  return lines.filter(Boolean).map((line) => {
    const { result: part, error } = JSON.parse(line) as {
      result?: { chunk?: string };
      error?: { message: string };
    };
    if (error) throw new Error(error.message);
    return Uint8Array.from(atob(part?.chunk ?? ''), (one) => one.charCodeAt(0));
  });
}

async function rowsFile(
  dataset: string,
  scores: Scores,
  detector: DetectorName,
  cut: number,
  labels: Map<number, boolean>,
): Promise<string[]> {
  const shown = scores[detector] ?? scores.svdd;
  const parts = [csv([['row', 'observation_id', 'score', 'refined_score', 'outside', 'label']])];
  for await (const page of allObservations(dataset)) {
    const lines = page.map((one) => {
      const row = one.row ?? 0;
      const label = labels.get(row);
      return [
        row,
        one.observationId,
        scores.svdd[row],
        scores.refined?.[row],
        isOutside(detector, shown[row] ?? 0, cut) ? 1 : 0,
        label === undefined ? '' : label ? 'outlier' : 'inlier',
      ];
    });
    parts.push(csv(lines));
  }
  return parts;
}

/** As `svddtune session labels SESSION --log --csv` prints it. */
async function labelsFile(session: string): Promise<string> {
  const rows: (string | number | undefined)[][] = [
    ['time', 'kind', 'observation_id', 'row', 'verdict', 'labeler', 'confidence', 'query', 'answer_seconds',
      'source_reference', 'provenance', 'origin', 'answer_id', 'event_id'],
  ];
  let token = '';
  do {
    const query = new URLSearchParams({ pageSize: '1000', pageToken: token });
    const page = await call<ListLabelsResponse>(path`/v1/${session}/labels` + `?${query}`);
    rows.push(...(page.events ?? []).map(cells));
    token = page.nextPageToken ?? '';
  } while (token);
  return csv(rows);
}

function cells(one: LabelEvent): (string | number | undefined)[] {
  return [
    one.time,
    (one.kind ?? '').replace('KIND_', '').toLowerCase(),
    one.observationId,
    one.observationId ? one.row : undefined,
    one.verdict === 'VERDICT_UNSPECIFIED' ? '' : (one.verdict ?? '').replace('VERDICT_', '').toLowerCase(),
    one.labeler,
    one.confidence,
    one.query,
    one.answerSeconds,
    one.sourceReference,
    one.provenance,
    one.origin,
    one.answerId,
    one.eventId,
  ];
}
