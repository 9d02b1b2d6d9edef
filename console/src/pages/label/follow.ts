/** Follows a session while its questions are answered. */
import { call, path, ServiceError } from '../../api/call';
import { pause } from '../../api/pause';
import type { Session } from '../../api/schema';
import { watch } from '../../api/watch';

const POLL_MS = 2000;

/** Report a session as it changes, until `signal` is aborted. Throws ServiceError if the service refuses. */
export async function follow(
  name: string,
  changed: (session: Session) => void,
  away: (is: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    await watch(name, changed, away, signal);
  } catch (error) {
    // The stream tells who labelled what, so labelers may not read it; they may ask for the session.
    if (!(error instanceof ServiceError && error.status === 403)) throw error;
    await poll(name, changed, away, signal);
  }
}

async function poll(...[name, changed, away, signal]: Parameters<typeof follow>): Promise<void> {
  let etag: string | undefined;
  while (!signal.aborted) {
    try {
      const { session } = await call<{ session: Session }>(path`/v1/${name}`, { signal });
      away(false);
      if (session.etag !== etag) changed(session);
      etag = session.etag;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ServiceError && !error.passing) throw error;
      away(true);
    }
    await pause(POLL_MS, signal);
  }
}
