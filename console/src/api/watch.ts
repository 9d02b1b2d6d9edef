/** Watches a session: the same stream that `svddtune watch` reads, by fetch. */
import { open, path, ServiceError } from './call';
import { pause } from './pause';
import type { LabelEvent, Session } from './schema';

export interface Change {
  session: Session;
  resumeToken?: string;
  /** What the label log got since the change before. */
  events?: LabelEvent[];
}

const ENDED = ['SESSION_STATE_COMPLETED', 'SESSION_STATE_CANCELLED', 'SESSION_STATE_FAILED'];
// The stream of a session that has ended is over at once, but somebody may resume the session.
const ENDED_WAIT_MS = 5000;

/** Report each change of a session until `signal` is aborted; goes on after breaks, and after its end.
 * The events are those since it began, each once. `away` is told whether the service cannot be reached. Throws ServiceError if it refuses.
 */
export async function watch(
  name: string,
  changed: (session: Session, events: LabelEvent[]) => void,
  away: (is: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let wait = 250;
  let ended = false;
  let token = '';
  while (!signal.aborted) {
    try {
      const from = token ? `resumeToken=${encodeURIComponent(token)}` : 'newEventsOnly=true';
      const response = await open(`${path`/v1/${name}:watch`}?${from}`, { signal });
      away(false);
      wait = 250;
      await eachLine(response, (line) => {
        const { result, error } = JSON.parse(line) as { result?: Change; error?: { message: string } };
        if (error) throw new Error(error.message);
        if (!result) return;
        token = result.resumeToken ?? token;
        ended = ENDED.includes(result.session.state ?? '');
        changed(result.session, result.events ?? []);
      });
      if (signal.aborted) return;
      // The stream ends with the session, and by the service's age limit.
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ServiceError && !error.passing) throw error;
      away(true);
    }
    await pause(ended ? Math.max(wait, ENDED_WAIT_MS) : wait, signal);
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
