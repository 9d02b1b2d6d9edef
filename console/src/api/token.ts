/** What the person has shown to the service: a token, kept until the tab is closed. */
import { signal } from '@preact/signals';

const KEY = 'svddtune.token';

/** The token; empty while none is shown. */
export const token = signal(sessionStorage.getItem(KEY) ?? '');
/** Why the service asks for a token; undefined while it does not. */
export const asked = signal<string | undefined>(undefined);

/** Take a token for all further calls. */
export function signIn(text: string): void {
  sessionStorage.setItem(KEY, text);
  token.value = text;
  asked.value = undefined;
}

/** Forget the token, and ask for one for the reason given. */
export function signOut(reason: string): void {
  sessionStorage.removeItem(KEY);
  token.value = '';
  asked.value = reason;
}
