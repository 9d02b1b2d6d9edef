/** Under which name a person labels: the one that the service knows, else one that the person gives. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { server } from '../../api/caller';

const KEY = 'svddtune.labeler';
const NAME = '[A-Za-z0-9._@\\-]{1,64}';

const TAGS = 'svddtune.tags';

/** What the person has said of itself, for sessions that ask only labelers with certain tags. */
export const ownTags = signal<readonly string[]>((localStorage.getItem(TAGS) ?? '').split(' ').filter(Boolean));

/** Take further tags for the person's own. */
export function claimTags(further: readonly string[]): void {
  // (A labeler can have 16; those of the session at hand count.)
  ownTags.value = [...new Set([...further, ...ownTags.value])].slice(0, 16);
  localStorage.setItem(TAGS, ownTags.value.join(' '));
}

const given = signal(localStorage.getItem(KEY) ?? '');

/** The name; empty while none is known. */
export function labelerName(): string {
  return server.value?.caller?.name || given.value;
}

/** Whether the person may choose it. */
export function mayRename(): boolean {
  return !server.value?.caller?.name;
}

/** Forget the name given, so that it is asked for. */
export function askAnew(): void {
  given.value = '';
}

export function AskName() {
  const [text, setText] = useState(localStorage.getItem(KEY) ?? '');
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        localStorage.setItem(KEY, text);
        given.value = text;
      }}
    >
      <h1>Label</h1>
      <label>
        Your name
        <input
          required
          pattern={NAME}
          maxLength={64}
          autocomplete="username"
          aria-describedby="name-hint"
          value={text}
          onInput={(event) => setText(event.currentTarget.value.trim())}
        />
      </label>
      <p class="hint" id="name-hint">
        It stands beside your labels. Letters, digits and . _ @ - are allowed. This browser remembers it.
      </p>
      <button type="submit" class="main">
        Begin
      </button>
    </form>
  );
}
