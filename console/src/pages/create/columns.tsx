/** The columns of a file: what each is for, and what is doubtful about it. */
import { useState } from 'preact/hooks';
import type { Judgement, Role } from './file/choice';
import type { Opened } from './file/worker';
import { visible } from '../../ui/visible';

const ROLES: [Role, string][] = [
  ['feature', 'Feature'],
  ['id', 'Id of the row'],
  ['display', 'Shown to labelers'],
  ['label', 'Known labels'],
  ['out', 'Left out'],
];
const KINDS = { numbers: 'numbers', text: 'text', nothing: 'empty' };
const PAGE = 50;

interface ColumnsProps {
  opened: Opened;
  roles: Role[];
  judgement: Judgement | undefined;
  change: (position: number, role: Role) => void;
}

export function Columns({ opened, roles, judgement, change }: ColumnsProps) {
  const [start, setStart] = useState(0);
  const doubts = new Map<number, string[]>();
  for (const note of [...opened.notes, ...(judgement?.notes ?? [])]) {
    if (note.column === undefined) continue;
    if (note.reason === 'LABEL_COLUMN' && roles[note.column] === 'label') continue;
    const held = doubts.get(note.column) ?? [];
    if (!held.includes(note.message)) doubts.set(note.column, [...held, note.message]);
  }
  const end = Math.min(start + PAGE, opened.columns.length);
  return (
    <>
      <div class="wide" role="region" aria-label="Table of columns" tabIndex={0}>
        <table class="kinds">
          <caption class="unseen">Columns of the file</caption>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Use</th>
            </tr>
          </thead>
          <tbody>
            {opened.columns.slice(start, end).map((one) => {
              const name = opened.hasNames && one.name ? visible(one.name) : `column ${one.position + 1}`;
              const fault = judgement?.refusal?.column === one.position ? judgement.refusal.message : undefined;
              return (
                <tr key={one.position} class={fault ? 'fault' : ''}>
                  <th scope="row">
                    {name}
                    <span class="samples">
                      {KINDS[one.kind]}
                      {one.samples.length > 0 && `: ${one.samples.map((text) => visible(text).slice(0, 40)).join(' · ')}`}
                    </span>
                  </th>
                  <td>
                    <select
                      aria-label={`Use of ${name}`}
                      value={roles[one.position]}
                      onChange={(event) => change(one.position, event.currentTarget.value as Role)}
                    >
                      {ROLES.map(([role, text]) => (
                        <option key={role} value={role}>
                          {text}
                        </option>
                      ))}
                    </select>
                    {doubts.get(one.position)?.map((text) => (
                      <p key={text} class="doubt">
                        {visible(text)}
                      </p>
                    ))}
                    {fault && <p class="doubt wrong">{visible(fault)}</p>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {opened.columns.length > PAGE && (
        <div class="row pager">
          <button type="button" disabled={start === 0} onClick={() => setStart(start - PAGE)}>
            Earlier columns
          </button>
          <span role="status">
            {start + 1} to {end} of {opened.columns.length.toLocaleString('en')}
          </span>
          <button type="button" disabled={end === opened.columns.length} onClick={() => setStart(start + PAGE)}>
            Further columns
          </button>
        </div>
      )}
    </>
  );
}
