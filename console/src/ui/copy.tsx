/** A text to take along: a command, or some lines of code. */
import { useState } from 'preact/hooks';

export function Copyable({ title, text }: { title: string; text: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // Without encryption a page may not write to the clipboard.
      setSaid('Select the text and copy it: the browser does not let the page do so.');
    }
  };
  return (
    <section class="copyable" aria-label={title}>
      <div class="row">
        <h3>{title}</h3>
        <span class="grow" />
        <span role="status" class="hint">
          {said}
        </span>
        <button type="button" aria-label={`Copy: ${title}`} onClick={copy}>
          Copy
        </button>
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </section>
  );
}
