/** The page's side of the worker that reads files. */
import type { Judgement, Role } from './choice';
import type { Encoded } from './encode';
import { Refusal } from './refusal';
import type { Form } from './table';
import type { Opened, Question, Reply } from './worker';

type Asked = Question extends infer One ? (One extends Question ? Omit<One, 'id'> : never) : never;

/** Reads one file at a time. Each call throws Refusal where the command line would refuse. */
export class Reader {
  private readonly worker = new Worker('/assets/reader.js', { type: 'module' });
  private readonly waiting = new Map<number, { done: (reply: Reply) => void; failed: (error: Error) => void }>();
  private count = 0;
  private progress: (bytes: number) => void = () => undefined;

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      if ('progress' in data) {
        this.progress(data.progress);
        return;
      }
      const held = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if ('refused' in data) {
        const { reason, message, column } = data.refused;
        held?.failed(new Refusal(reason, message, column));
      } else held?.done(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      const message = 'The file is too large for this browser. Store it with: svddtune dataset add FILE';
      for (const { failed } of this.waiting.values()) failed(new Refusal('TOO_LARGE', message));
      this.waiting.clear();
    };
  }

  async open(file: File, form: Form, progress: (bytes: number) => void): Promise<Opened> {
    this.progress = progress;
    const reply = await this.ask({ kind: 'open', name: file.name, content: file, form });
    return (reply as { opened: Opened }).opened;
  }

  async judge(roles: Role[], scaled: boolean): Promise<Judgement> {
    return ((await this.ask({ kind: 'judge', roles, scaled })) as { judgement: Judgement }).judgement;
  }

  async encode(roles: Role[], outlierValue?: string): Promise<Encoded> {
    const asked: Asked = { kind: 'encode', roles };
    if (outlierValue !== undefined) asked.outlierValue = outlierValue;
    return ((await this.ask(asked)) as { encoded: Encoded }).encoded;
  }

  close(): void {
    this.worker.terminate();
  }

  private ask(asked: Asked): Promise<Reply> {
    this.count += 1;
    const id = this.count;
    return new Promise((done, failed) => {
      this.waiting.set(id, { done, failed });
      this.worker.postMessage({ id, ...asked });
    });
  }
}
