/** Runs in a worker of the browser, so that the page stays usable while a file is read. */
import { judged, proposals, type ColumnView, type Judgement, type Role } from './choice';
import { encoded, type Encoded } from './encode';
import type { Decimal } from './numbers';
import { Refusal } from './refusal';
import { readTable, type Form, type Note, type Table } from './table';

export interface Opened {
  file: string;
  rowCount: number;
  hasNames: boolean;
  delimiter: string;
  decimal: Decimal;
  columns: ColumnView[];
  notes: Note[];
}

/** What the page asks of the worker; `id` comes back with the answer. */
export type Question = { id: number } & (
  | { kind: 'open'; name: string; content: Blob; form: Form }
  | { kind: 'judge'; roles: Role[]; scaled: boolean }
  | { kind: 'encode'; roles: Role[]; outlierValue?: string }
);

export type Reply = { id: number } & (
  | { progress: number }
  | { opened: Opened }
  | { judgement: Judgement }
  | { encoded: Encoded }
  | { refused: { reason: string; message: string; column?: number } }
);

// The library of types knows this global as a window's only.
const scope = self as unknown as {
  onmessage: ((event: MessageEvent<Question>) => void) | null;
  postMessage(reply: Reply): void;
};
let table: Table | undefined;
const PROGRESS_MS = 100;

scope.onmessage = ({ data }) => {
  answer(data).catch((fault: unknown) => {
    const known = fault instanceof Refusal;
    const message = fault instanceof Error ? fault.message : String(fault);
    const refused = { reason: known ? fault.reason : 'UNREADABLE', message };
    scope.postMessage({
      id: data.id,
      refused: known && fault.column !== undefined ? { ...refused, column: fault.column } : refused,
    });
  });
};

async function answer(question: Question): Promise<void> {
  const { id } = question;
  if (question.kind === 'open') {
    table = undefined;
    let told = 0;
    table = await readTable(question.name, question.content, question.form, (bytes) => {
      if (Date.now() - told < PROGRESS_MS) return;
      told = Date.now();
      scope.postMessage({ id, progress: bytes });
    });
    const { file, rowCount, hasNames, delimiter, decimal } = table;
    scope.postMessage({ id, opened: { file, rowCount, hasNames, delimiter, decimal, ...proposals(table) } });
    return;
  }
  if (!table) throw new Refusal('UNREADABLE', 'No file has been read');
  if (question.kind === 'judge') {
    scope.postMessage({ id, judgement: judged(table, question.roles, question.scaled) });
  } else {
    scope.postMessage({ id, encoded: encoded(table, question.roles, question.outlierValue) });
  }
}
