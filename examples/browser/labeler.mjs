// A labeler with nothing but fetch, for pages and for Node.js 18 or newer:
// node labeler.mjs URL SESSION
// It leases one query at a time, answers by a rule, and goes on when the service was away.

const PAUSE_MS = 500;

/** An error of the service: reason is stable, status is the name of gRPC's code. */
export class ServiceError extends Error {
  constructor({ message, status, details }) {
    super(message);
    this.status = status;
    this.reason = details.find((one) => one.reason)?.reason ?? status;
  }
}

/** Call the service until it answers. Throws ServiceError if it refuses. */
export async function call(url, body) {
  for (;;) {
    let response;
    try {
      response = await fetch(url, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
      });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS)); // away for now
      continue;
    }
    const said = await response.json();
    if (response.ok) return said;
    if (response.status !== 503) throw new ServiceError(said.error);
    await new Promise((resolve) => setTimeout(resolve, 1000 * response.headers.get('Retry-After')));
  }
}

/** Answer the queries of a session until it asks no more; returns why it does not. */
export async function label(service, session, labeler, decide) {
  for (;;) {
    const lease = await call(`${service}/v1/${session}:lease`, { labeler, waitSeconds: 30 });
    for (const { query, leaseId, features } of lease.assignments) {
      // The same id each time: an answer that is sent again counts once.
      const answer = { answerId: leaseId, query, leaseId, verdict: decide(features) };
      await call(`${service}/v1/${session}:answer`, { labeler, answer });
    }
    if (lease.finishReason !== 'FINISH_REASON_UNSPECIFIED') return lease.finishReason;
  }
}

/** Call back with the session after each of its changes, until it has ended. */
export async function watch(service, session, changed) {
  const response = await fetch(`${service}/v1/${session}:watch`);
  if (!response.ok) throw new ServiceError((await response.json()).error);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split('\n');
    rest = lines.pop();
    for (const { result, error } of lines.map(JSON.parse)) {
      if (error) throw new ServiceError(error);
      changed(result.session);
    }
  }
}

if (globalThis.process?.argv[1]?.endsWith('labeler.mjs')) {
  const [service, session] = process.argv.slice(2);
  const rule = (features) => (Math.max(...features) > 1 ? 'VERDICT_OUTLIER' : 'VERDICT_INLIER');
  try {
    console.log(`finished: ${await label(service, session, 'rule', rule)}`);
    await watch(service, session, ({ state }) => console.log(state));
  } catch (error) {
    console.error(error.reason ?? error.message);
    process.exitCode = 1;
  }
}
