/** Buttons and keys for what a labeler can say. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { SkipMode, Verdict } from '../../api/schema';
import type { Desk } from './desk';
import { Help, Skip } from './dialogs';
import { CONFIDENCES, SURE } from './words';

// A key that comes sooner after a question has appeared was meant for the one before.
const GUARD_MS = 150;

const VERDICTS: readonly { verdict: Verdict; key: string; name: string }[] = [
  { verdict: 'VERDICT_INLIER', key: 'i', name: 'Inlier' },
  { verdict: 'VERDICT_OUTLIER', key: 'o', name: 'Outlier' },
  { verdict: 'VERDICT_UNSURE', key: 'u', name: 'Unsure' },
];

export function Controls({ desk }: { desk: Desk }) {
  const [open, setOpen] = useState<'help' | 'skip' | undefined>();
  const [sureness, setSureness] = useState<(typeof CONFIDENCES)[number]>(SURE);
  const question = desk.question.value;
  const ready = useGuard(question && `${question.assign.session}/${question.assign.observationId}`);

  const answer = (verdict: Verdict) => {
    if (!ready) return;
    setSureness(SURE);
    desk.answer(verdict, sureness.confidence);
  };
  const skip = (mode: SkipMode) => {
    setOpen(undefined);
    desk.skip(mode);
  };
  const press = (key: string): boolean => {
    const verdict = VERDICTS.find((one) => one.key === key);
    const confidence = CONFIDENCES.find((one) => one.key === key);
    if (verdict) answer(verdict.verdict);
    else if (confidence) setSureness(confidence);
    else if (key === 's') setOpen(ready ? 'skip' : undefined);
    else if (key === 'z' || key === 'backspace') desk.undo();
    else if (key === '?') setOpen('help');
    else return false;
    return true;
  };

  // (Before the next key, not after the next frame.)
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (open || event.repeat || event.defaultPrevented || !forPage(event)) return;
      if (press(event.key.toLowerCase())) event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });

  return (
    <div class="controls" data-ready={ready}>
      <div class="row verdicts" role="group" aria-label="Your verdict">
        {VERDICTS.map(({ verdict, key, name }) => (
          <button type="button" key={key} class={name.toLowerCase()} disabled={!question} onClick={() => answer(verdict)}>
            {name} <Key name={key} />
          </button>
        ))}
        <button type="button" disabled={!question} aria-haspopup="dialog" onClick={() => ready && setOpen('skip')}>
          Skip … <Key name="s" />
        </button>
        <button type="button" disabled={!desk.history.value.length} onClick={() => desk.undo()}>
          Undo <Key name="z" />
        </button>
        <button type="button" class="plain" aria-haspopup="dialog" onClick={() => setOpen('help')}>
          Keys <Key name="?" />
        </button>
      </div>
      <fieldset class="sureness">
        <legend>How sure?</legend>
        {CONFIDENCES.map((one) => (
          <label key={one.key}>
            <input type="radio" name="sureness" checked={sureness === one} onChange={() => setSureness(one)} /> {one.word}{' '}
            <Key name={one.key} />
          </label>
        ))}
      </fieldset>
      {open === 'help' && <Help close={() => setOpen(undefined)} />}
      {open === 'skip' && <Skip close={() => setOpen(undefined)} skip={skip} />}
    </div>
  );
}

function Key({ name }: { name: string }) {
  return <kbd aria-hidden="true">{name.toUpperCase()}</kbd>;
}

/** Whether the question with this name has been there long enough to be meant. */
function useGuard(name: string | undefined): boolean {
  const [seen, setSeen] = useState<string | undefined>();
  useEffect(() => {
    if (name === undefined) return undefined;
    const timer = setTimeout(() => setSeen(name), GUARD_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return name !== undefined && seen === name;
}

/** Whether a key is for the page: not one for a field, the browser or the system. */
function forPage(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return true;
  if (target instanceof HTMLInputElement) return target.type === 'radio';
  return !target.isContentEditable && !['TEXTAREA', 'SELECT'].includes(target.tagName);
}
