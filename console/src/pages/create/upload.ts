/** Sends a dataset to the service: with progress, and from where it broke off. */
import { call, path, refusal, ServiceError, Unreachable } from '../../api/call';
import { newId } from '../../api/id';
import { pause } from '../../api/pause';
import type { Dataset } from '../../api/schema';
import { signOut, token } from '../../api/token';
import type { Encoded } from './file/encode';

export interface Stored {
  dataset: Dataset;
  /** The same content was there already. */
  alreadyExisted: boolean;
}

const MOST_TRIES = 12;
const LONGEST_PAUSE_MS = 3000;

/** Send the rows. `progress` is told which share of the bytes has gone, and whether the service is away.
 *
 * Throws ServiceError where the service refuses, Unreachable where it stays away, and AbortError.
 */
export async function upload(
  encoded: Encoded,
  named: { displayName: string; scaling: string },
  signal: AbortSignal,
  progress: (share: number, away: boolean) => void,
): Promise<Stored> {
  const uploadId = newId();
  const header = { header: { ...encoded.header, ...named, uploadId } };
  const whole = encoded.chunks.reduce((sum, one) => sum + one.line.size, 0);
  let stored = 0;
  let gone = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      if (tries > 1) {
        const earlier = stored;
        stored = await rowsThere(uploadId, signal);
        if (stored > earlier) tries = 1;
      }
      const left = encoded.chunks.filter((one) => one.end > stored);
      const body = new Blob([`${JSON.stringify(header)}\n`, ...left.map((one) => one.line)]);
      gone = whole - left.reduce((sum, one) => sum + one.line.size, 0);
      return await send(body, signal, (sent) => progress(Math.min(1, (gone + sent) / whole), false));
    } catch (error) {
      const gap = error instanceof ServiceError && error.reason === 'UPLOAD_GAP';
      const passing = error instanceof Unreachable || (error instanceof ServiceError && error.passing);
      if (signal.aborted || !(gap || passing) || tries === MOST_TRIES) throw error;
      progress(gone / whole, passing);
    }
    await pause(Math.min(250 * 2 ** tries, LONGEST_PAUSE_MS), signal);
    signal.throwIfAborted();
  }
}

/** How many rows the service has of an upload. */
async function rowsThere(uploadId: string, signal: AbortSignal): Promise<number> {
  try {
    return (await call<{ rowCount?: number }>(path`/v1/uploads/${uploadId}`, { signal })).rowCount ?? 0;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === 'UPLOAD_NOT_FOUND') return 0;
    throw error;
  }
}

/** One request. (Only XMLHttpRequest tells how much of a body has gone.) */
function send(body: Blob, signal: AbortSignal, sent: (bytes: number) => void): Promise<Stored> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    const cancel = () => request.abort();
    signal.addEventListener('abort', cancel);
    request.open('POST', '/v1/datasets');
    request.setRequestHeader('Content-Type', 'application/x-ndjson');
    if (token.value) request.setRequestHeader('Authorization', `Bearer ${token.value}`);
    request.upload.onprogress = (event) => sent(event.loaded);
    request.onerror = () => failed(new Unreachable());
    request.onabort = () => failed(new DOMException('The upload was cancelled.', 'AbortError'));
    request.onloadend = () => signal.removeEventListener('abort', cancel);
    request.onload = () => {
      if (request.status === 200) {
        const { dataset, alreadyExisted } = JSON.parse(request.responseText) as Stored;
        done({ dataset, alreadyExisted: alreadyExisted ?? false });
        return;
      }
      refusal(new Response(request.responseText, { status: request.status })).then((refused) => {
        if (refused.status === 401) signOut(refused.message);
        failed(refused);
      }, failed);
    };
    request.send(body);
  });
}
