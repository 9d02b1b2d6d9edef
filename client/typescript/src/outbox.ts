/** Messages that are sent as soon as the stream takes them. */
export class Outbox<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  #wake = () => {};
  #closed = false;

  /** Adds a message; has no effect after `close`. */
  push(message: T): void {
    if (this.#closed) return;
    this.#waiting.push(message);
    this.#wake();
  }

  /** Ends the messages. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      yield* this.#waiting.splice(0);
      if (this.#waiting.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
