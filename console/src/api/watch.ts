/** Watches a session: the same stream that `svddtune watch` reads, by fetch. */
import { open, path, ServiceError } from './call';
import { pause } from './pause';
import type { FinishReason, Session } from './schema';

export interface Change {
  session: Session;
  finishReason?: FinishReason;
  resumeToken?: string;
}

/** Report each change of a session until it has ended or `signal` is aborted; goes on after breaks.
 * `away` is told whether the service cannot be reached. Throws ServiceError if it refuses.
 */
export async function watch(
  name: string,
  changed: (session: Session) => void,
  away: (is: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let wait = 250;
  while (!signal.aborted) {
    try {
      const response = await open(path`/v1/${name}:watch`, { signal });
      away(false);
      wait = 250;
      await eachLine(response, (line) => {
        const { result, error } = JSON.parse(line) as { result?: Change; error?: { message: string } };
        if (error) throw new Error(error.message);
        if (result) changed(result.session);
      });
      if (signal.aborted) return;
      // The stream ends with the session, and by the service's age limit.
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ServiceError && !error.passing) throw error;
      away(true);
    }
    await pause(wait, signal);
    wait = Math.min(wait * 2, 4000);
  }
}

async function eachLine(response: Response, take: (line: string) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split('\n');
    rest = lines.pop() ?? '';
    lines.filter(Boolean).forEach(take);
  }
}
