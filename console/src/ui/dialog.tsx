/** A question that has to be answered before anything else; the focus then returns to where it was. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ErrorNotice } from './notice';

interface DialogProps {
  title: string;
  /** What the button that goes ahead says, e.g. "Delete". */
  action: string;
  /** Whether the button can be pressed; default true. */
  ready?: boolean;
  /** What the button does; the dialog closes when it is done, and stays with the error if it fails. */
  act: () => Promise<unknown>;
  close: () => void;
  children?: ComponentChildren;
}

export function Dialog({ title, action, ready = true, act, close, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await act();
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <dialog ref={ref} class="card" aria-labelledby={heading} onClose={close}>
      <form onSubmit={submit}>
        <h2 id={heading}>{title}</h2>
        {children}
        {error !== undefined && <ErrorNotice error={error} />}
        <div class="row">
          <button type="submit" class="main" disabled={busy || !ready}>
            {action}
          </button>
          <button type="button" onClick={() => ref.current?.close()}>
            Leave it
          </button>
        </div>
      </form>
    </dialog>
  );
}
