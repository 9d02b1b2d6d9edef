/** Commands and code that use a result; each runs as it stands. */
import type { Dataset, TuningResult } from '../../api/schema';

/** Names of a dataset's columns in an example; with more, values stand in their order. */
const MOST_NAMES = 8;

export interface Subject {
  /** Id of the session. */
  id: string;
  result: TuningResult;
  dataset: Dataset;
  /** File name without its ending. */
  file: string;
  /** Whether calls need a token. */
  signedIn: boolean;
  /** Address of the page. */
  origin: string;
}

/** ` --server HOST:PORT` where the service is not on this machine. */
function server({ origin }: Subject): string {
  const host = new URL(origin).hostname;
  return ['localhost', '127.0.0.1', '[::1]'].includes(host) ? '' : ` --server ${host}:50051`;
}

export function onnxCommand(one: Subject): string {
  return `svddtune export ${one.id} --format onnx --out ${one.file}.onnx${server(one)}`;
}

export function reportCommand(one: Subject): string {
  return `svddtune report ${one.id} -o ${one.file}.html${server(one)}`;
}

export function pythonCode({ file }: Subject): string {
  return [
    'from svddtune import SvddModel',
    '',
    `model = SvddModel.load("${file}.npz")`,
    'X = model.check_rows  # put your rows here',
    'labels = model.predict(X)  # +1 inlier, -1 outlier',
    'scores = -model.decision(X)  # above 0 outside, the larger the farther',
  ].join('\n');
}

export function sklearnCode({ file }: Subject): string {
  return [
    'import joblib',
    'from svddtune import SvddModel',
    '',
    `model = SvddModel.load("${file}.npz")`,
    'pipeline = model.to_sklearn()  # decides alike, and needs scikit-learn alone',
    `joblib.dump(pipeline, "${file}.joblib")`,
    'labels = pipeline.predict(model.check_rows)  # put your rows here',
  ].join('\n');
}

export function curlCommand({ origin, result, dataset, signedIn }: Subject): string {
  const names = dataset.featureNames ?? [];
  const row =
    names.length && names.length <= MOST_NAMES
      ? { byName: Object.fromEntries(names.map((name) => [name, 0])) }
      : { values: Array.from({ length: dataset.featureCount ?? 1 }, () => 0) };
  const body = JSON.stringify({ rows: [row], reasonCount: 3 }).replaceAll("'", String.raw`'\''`);
  return [
    `curl -fsS ${origin}/v1/${result.name}:score \\`,
    ...(signedIn ? ['  -H "Authorization: Bearer $SVDDTUNE_TOKEN" \\'] : []),
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
}
