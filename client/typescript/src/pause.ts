import { SvddtuneError } from "./errors.js";

const FIRST_MS = 100;
const MOST_MS = 5_000;
// Faults of a proxy or of the transport pass; a message that cannot be decoded comes again at once.
const MOST_FAULTS = 8;
const FAULTS_WITHIN_MS = 60_000;

/** Waits between attempts, longer each time and with jitter, so that many clients do not return at once. */
export class Pause {
  #faults: number[] = [];
  #nextMs = 0;
  #since: number | undefined;

  /** @param patienceMs Limits the time from the first failure on. */
  constructor(public patienceMs: number) {}

  /** Makes the next failure the first one. */
  reset(): void {
    this.#nextMs = 0;
    this.#since = undefined;
  }

  /** Waits if another attempt may help after the error, or after the regular end of a stream; else throws it. */
  async after(error: SvddtuneError | undefined, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const now = Date.now();
    this.#since ??= now;
    if (error?.faulty) this.#faults.push(now);
    this.#faults = this.#faults.filter((at) => now - at < FAULTS_WITHIN_MS);
    const late = now - this.#since > this.patienceMs || this.#faults.length > MOST_FAULTS;
    if (error && (late || !error.temporary)) throw error;
    this.#nextMs = Math.min(Math.max(2 * this.#nextMs, FIRST_MS), MOST_MS);
    const delayMs = Math.max(error?.retryAfterMs ?? 0, this.#nextMs * (0.5 + Math.random() / 2));
    await sleep(delayMs, signal);
  }
}

/** Resolves after a delay; rejects with the signal's reason if it is aborted before. */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, delayMs);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
