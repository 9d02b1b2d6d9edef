/** Offers a column that looks like known labels; nothing is taken from it unless somebody says so. */
import { many } from '../../ui/format';
import { visible } from '../../ui/visible';
import type { Role } from './file/choice';
import type { Opened } from './file/worker';

interface LabelsProps {
  table: Opened;
  roles: Role[];
  outlierValue: string;
  change: (position: number, role: Role) => void;
  setOutlierValue: (value: string) => void;
}

export function Labels({ table, roles, outlierValue, change, setOutlierValue }: LabelsProps) {
  const taken = roles.indexOf('label');
  const offered = table.columns.find((one) => one.labels && (taken < 0 || one.position === taken));
  if (taken < 0 && !offered) return null;
  const position = taken < 0 ? (offered?.position ?? 0) : taken;
  const column = table.columns[position];
  const name = visible(column?.name ?? '');
  const { counts, values = [] } = column?.labels ?? {};
  if (taken < 0) {
    return (
      <div class="notice">
        <p>
          Column “{name}” looks like known labels
          {counts && `: ${many(counts.OUTLIER, 'outlier')}, ${many(counts.INLIER, 'inlier')}`}. It is no feature. The session can start
          with these labels.
        </p>
        <button type="button" onClick={() => change(position, 'label')}>
          Start with these labels
        </button>
      </div>
    );
  }
  return (
    <div class="notice">
      <p>The session starts with the labels in column “{name}”.</p>
      <label>
        Value that marks an outlier
        <select value={outlierValue} onChange={(event) => setOutlierValue(event.currentTarget.value)}>
          <option value="">{counts ? 'outlier, anomaly or -1' : 'choose …'}</option>
          {values.map((value) => (
            <option key={value} value={value}>
              {visible(value)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => change(position, 'out')}>
        Leave them out
      </button>
    </div>
  );
}
