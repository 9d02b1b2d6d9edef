/** What a session was created with: for those who ask why it behaves as it does. */
import type { ComponentChildren } from 'preact';
import type { Session } from '../../api/schema';
import { idOf, to } from '../../shell/route';
import { wordOf } from '../../ui/format';

export function About({ session }: { session: Session }) {
  const { config, takenOver, labels } = session;
  const from = takenOver?.source ?? '';
  const tags = Object.entries(labels ?? {}).map(([key, value]) => `${key}: ${value}`);
  const settings = Object.entries(config ?? {}).filter(([, value]) => isSet(value));
  return (
    <details class="about">
      <summary>Settings</summary>
      <dl>
        <Item name="Dataset">{idOf(session.dataset ?? '')}</Item>
        <Item name="Created">{time(session.createTime)}</Item>
        {session.expireTime && <Item name="Deleted by the service">{time(session.expireTime)}</Item>}
        {takenOver && (
          <Item name="Labels taken over">
            {takenOver.takenCount} from {from.startsWith('sessions/') ? <a href={to(...from.split('/'))}>{from}</a> : from}
          </Item>
        )}
        {tags.length > 0 && <Item name="Labels of the session">{tags.join(', ')}</Item>}
        {settings.map(([name, value]) => (
          <Item key={name} name={words(name)}>
            {written(value)}
          </Item>
        ))}
      </dl>
    </details>
  );
}

function Item({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Settings at 0, false or empty have no effect, but for the seed. */
function isSet(value: unknown): boolean {
  return value instanceof Object ? Object.keys(value).length > 0 : Boolean(value);
}

function written(value: unknown): string {
  if (value === true) return 'yes';
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (value instanceof Object) return Object.entries(value).sort().map((pair) => pair.join(': ')).join(', ');
  // Enums carry their own name: OVERLAP_RULE_ALWAYS is "always".
  return wordOf(String(value), /^(QUERY_STRATEGY|METRIC|GRID_SPACING|TIE_RULE|TAU_RULE|OVERLAP_RULE|AGGREGATION)_/.exec(String(value))?.[0] ?? '');
}

/** "leaseSeconds" is "lease seconds". */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function time(text: string | undefined): string {
  return text ? new Date(text).toLocaleString('en-GB', { timeZoneName: 'short' }) : '–';
}
