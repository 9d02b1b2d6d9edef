/** JSON as a tree whose branches open and close. */
import { visible } from '../../ui/visible';

const MOST_ENTRIES = 100;
// Branches below are closed at first; those far below are shown as text.
const OPEN_LEVELS = 1;
const LEVELS = 20;

export function JsonTree({ value, level = 0 }: { value: object; level?: number }) {
  const entries = Object.entries(value);
  return (
    <ul class="json">
      {entries.slice(0, MOST_ENTRIES).map(([key, part]) => (
        <li key={key}>
          <Entry name={key} value={part as unknown} level={level} />
        </li>
      ))}
      {entries.length > MOST_ENTRIES && <li class="hint">and {entries.length - MOST_ENTRIES} more</li>}
    </ul>
  );
}

function Entry({ name, value, level }: { name: string; value: unknown; level: number }) {
  const label = <bdi class="key">{visible(name)}</bdi>;
  if (typeof value === 'object' && value !== null && level < LEVELS) {
    const count = Object.keys(value).length;
    if (count) {
      return (
        <details open={level < OPEN_LEVELS}>
          <summary>
            {label} <span class="hint">{Array.isArray(value) ? `[${count}]` : `{${count}}`}</span>
          </summary>
          <JsonTree value={value} level={level + 1} />
        </details>
      );
    }
  }
  return (
    <>
      {label}: <bdi>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</bdi>
    </>
  );
}
