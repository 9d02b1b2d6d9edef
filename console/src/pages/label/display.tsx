/** What the upload gave labelers to see of an observation. */
import { useState } from 'preact/hooks';
import type { DisplayField } from '../../api/schema';
import { visible } from '../../ui/visible';
import { kindOf } from './display_kind';
import { JsonTree } from './json_tree';

// What is longer is cut until it is asked for.
const LONG = 600;

export function Display({ fields }: { fields: readonly DisplayField[] }) {
  if (!fields.length) return null;
  return (
    <dl class="fields">
      {fields.map(({ key = '', value = '' }, place) => (
        <div key={`${place} ${key}`}>
          <dt>
            <bdi>{visible(key)}</bdi>
          </dt>
          <dd>
            <Value name={key} text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ name, text }: { name: string; text: string }) {
  const kind = kindOf(text);
  if (kind.kind === 'link') {
    return (
      <a href={kind.address} target="_blank" rel="noopener noreferrer nofollow">
        {text}
      </a>
    );
  }
  if (kind.kind === 'image') return <Picture name={name} address={kind.address} />;
  if (kind.kind === 'json') return <JsonTree value={kind.value} />;
  return <Text name={name} text={text} lines={kind.kind === 'lines'} />;
}

function Picture({ name, address }: { name: string; address: string }) {
  const [broken, setBroken] = useState(false);
  if (broken) return <span class="hint">An image that cannot be read.</span>;
  return <img src={address} alt={visible(name) || 'image of the observation'} onError={() => setBroken(true)} />;
}

function Text({ name, text, lines }: { name: string; text: string; lines: boolean }) {
  const [all, setAll] = useState(false);
  const cut = text.length > LONG && !all;
  const shown = visible(cut ? text.slice(0, LONG) : text);
  const long = lines || text.length > LONG;
  return (
    <>
      {long ? (
        <pre tabIndex={0} role="region" aria-label={visible(name)}>
          <bdi>{shown}</bdi>
        </pre>
      ) : (
        <bdi>{shown}</bdi>
      )}
      {cut && (
        <>
          {' … '}
          <button type="button" class="plain small" onClick={() => setAll(true)}>
            Show all {text.length.toLocaleString('en')} characters
          </button>
        </>
      )}
    </>
  );
}
