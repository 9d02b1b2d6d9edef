/** The frame of a chart: title, picture, legend, and a table with the same figures. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import './charts.css';

export interface Table {
  /** Names of the columns; the first column names the row. */
  columns: string[];
  rows: () => (string | number)[][];
}

interface FigureProps {
  title: string;
  /** A sentence under the picture on how to read it. */
  caption?: string;
  table: Table;
  legend?: ComponentChildren;
  children: ComponentChildren;
}

export function Figure({ title, caption, table, legend, children }: FigureProps) {
  return (
    <figure class="chart" aria-label={title}>
      <p class="title">{title}</p>
      {legend && <div class="legend">{legend}</div>}
      {children}
      {caption && <figcaption class="hint">{caption}</figcaption>}
      <Alternative title={title} table={table} />
    </figure>
  );
}

/** The figures as a table, which is made once somebody opens it. */
function Alternative({ title, table }: { title: string; table: Table }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        <div class="wide scrolled" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
          <table>
            <thead>
              <tr>
                {table.columns.map((one) => (
                  <th key={one} scope="col">
                    {one}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows().map(([head, ...cells], i) => (
                <tr key={i}>
                  <th scope="row">{head}</th>
                  {cells.map((cell, j) => (
                    <td key={j} class={typeof cell === 'number' ? 'number' : ''}>
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
