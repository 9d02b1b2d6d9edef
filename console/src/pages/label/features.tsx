/** The features of an observation: the unusual ones first, each against the whole dataset. */
import { useState } from 'preact/hooks';
import type { Assign, FeatureProfile, Profile } from '../../api/schema';
import { figure, many } from '../../ui/format';
import { visible } from '../../ui/visible';
import { Spark } from './spark';

const FEW = 10;
const LONGEST_BAR = 7;

interface Row {
  column: number;
  name: string;
  value: number;
  typical?: number | undefined;
  deviation?: number | undefined;
  profile?: FeatureProfile | undefined;
  unusual: boolean;
}

export function Features({ assign, profile }: { assign: Assign; profile: Profile | undefined }) {
  const [all, setAll] = useState(false);
  const rows = rowsOf(assign, profile);
  if (!rows.length) return null;
  const shown = all ? rows : rows.slice(0, FEW);
  const inliers = assign.explanation?.referenceInliers ?? 0;
  return (
    <section aria-labelledby="features">
      <h2 id="features">Features</h2>
      <table class="features">
        <thead>
          <tr>
            <th scope="col">Feature</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col">In all rows</th>
            <th scope="col">Deviation</th>
            <th scope="col" class="number typical">
              Typical
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.column} class={row.unusual ? 'unusual' : ''}>
              <th scope="row">
                <bdi>{visible(row.name)}</bdi>
              </th>
              <td class="number">{figure(row.value, 5)}</td>
              <td>{row.profile && <Spark profile={row.profile} value={row.value} />}</td>
              <td>
                <Deviation value={row.deviation} />
              </td>
              <td class="number typical">{figure(row.typical, 4)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > FEW && (
        <button type="button" class="plain small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${rows.length} features`}
        </button>
      )}
      <p class="hint">
        Deviations are in robust standard deviations.{' '}
        {inliers
          ? `Those in bold are from ${many(inliers, 'labelled inlier')}, the others from all rows.`
          : 'They are from all rows, as few inliers are labelled.'}
      </p>
    </section>
  );
}

function Deviation({ value }: { value: number | undefined }) {
  if (value === undefined) return <>–</>;
  const share = Math.min(Math.abs(value), LONGEST_BAR) / LONGEST_BAR / 2;
  const left = value < 0 ? 0.5 - share : 0.5;
  const text = Math.abs(value) >= 100 ? (value > 0 ? '> 99' : '< −99') : value.toFixed(1).replace('-', '−');
  return (
    <span class="deviation">
      <svg viewBox="0 0 84 14" aria-hidden="true">
        <path class="middle" d="M42 0V14" />
        <rect x={84 * left} y="3" width={84 * share} height="8" />
      </svg>
      {value > 0 && Math.abs(value) < 100 ? `+${text}` : text}
    </span>
  );
}

function rowsOf(assign: Assign, profile: Profile | undefined): Row[] {
  const unusual = assign.explanation?.unusual ?? [];
  const profiles = new Map((profile?.features ?? []).map((one) => [one.column ?? 0, one]));
  const values = assign.visible?.length
    ? assign.visible.map((one) => ({ column: one.column ?? 0, name: one.name ?? '', value: number(one.value) }))
    : (assign.features ?? []).map((value, column) => ({ column, name: '', value: number(value) }));
  const rows = values.map(({ column, name, value }): Row => {
    const known = profiles.get(column);
    const said = unusual.find((one) => (one.column ?? 0) === column);
    const spread = number(known?.spread);
    const center = number(known?.center);
    return {
      column,
      name: name || said?.name || known?.name || `column ${column}`,
      value,
      typical: said ? number(said.typical) : known && center,
      deviation: said ? finite(number(said.deviation)) : known && spread > 0 ? finite((value - center) / spread) : undefined,
      profile: known,
      unusual: said !== undefined,
    };
  });
  const place = (row: Row) => {
    const found = unusual.findIndex((one) => (one.column ?? 0) === row.column);
    return found < 0 ? unusual.length : found;
  };
  return rows.sort((one, other) => place(one) - place(other));
}

// (JSON of protobuf has "Infinity" and "NaN" as texts.)
function number(value: number | undefined): number {
  return Number(value ?? 0);
}

function finite(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
