/** The two dialogs of the page: what the keys do, and how to skip. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SkipMode } from '../../api/schema';
import { KEYS } from './words';

interface Dialog {
  title: string;
  close: () => void;
  children: ComponentChildren;
  pressed?: (key: string) => void;
}

function Dialog({ title, close, children, pressed }: Dialog) {
  const dialog = useRef<HTMLDialogElement>(null);
  // (Before the next key, which is for the dialog.)
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog"
      onClose={close}
      onKeyDown={(event) => {
        if (!event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey) pressed?.(event.key.toLowerCase());
      }}
    >
      <h2 id="dialog">{title}</h2>
      {children}
      <button type="button" onClick={close}>
        Back to the question
      </button>
    </dialog>
  );
}

export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">What</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {KEYS.map(([key, what, meaning]) => (
            <tr key={key}>
              <th scope="row">
                <kbd>{key}</kbd>
              </th>
              <td>{what}</td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}

const MODES: readonly { mode: SkipMode; key: string; name: string; meaning: string }[] = [
  { mode: 'SKIP_MODE_LATER', key: 's', name: 'Later', meaning: 'It is asked again, after others.' },
  { mode: 'SKIP_MODE_OTHERS', key: 'x', name: 'Others', meaning: 'Other labelers are asked; you are not asked again.' },
  { mode: 'SKIP_MODE_DROP', key: 'd', name: 'Nobody', meaning: 'The session leaves the observation out, for all labelers.' },
];

export function Skip({ close, skip }: { close: () => void; skip: (mode: SkipMode) => void }) {
  return (
    <Dialog
      title="Skip this question"
      close={close}
      pressed={(key) => {
        const found = MODES.find((one) => one.key === key);
        if (found) skip(found.mode);
      }}
    >
      <ul class="modes">
        {MODES.map(({ mode, key, name, meaning }) => (
          <li key={mode}>
            <button type="button" onClick={() => skip(mode)}>
              {name} <kbd>{key.toUpperCase()}</kbd>
            </button>{' '}
            {meaning}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
