/** What the person has shown to the service: a token, kept until the tab is closed. */
import { signal } from '@preact/signals';

const KEY = 'svddtune.token';
const RENEWAL_KEY = 'svddtune.renewal';

/** How an issuer renews the token that it gave. */
export interface Renewal {
  endpoint: string;
  clientId: string;
  refreshToken: string;
  /** From when on the token is to be renewed, by this machine's clock in milliseconds. */
  due: number;
}

/** The token; empty while none is shown. */
export const token = signal(sessionStorage.getItem(KEY) ?? '');
/** Why the service asks for a token; undefined while it does not. */
export const asked = signal<string | undefined>(undefined);

/** Take a token for all further calls. */
export function signIn(text: string, renewal?: Renewal): void {
  sessionStorage.setItem(KEY, text);
  if (renewal) sessionStorage.setItem(RENEWAL_KEY, JSON.stringify(renewal));
  else sessionStorage.removeItem(RENEWAL_KEY);
  token.value = text;
  asked.value = undefined;
}

/** Forget the token, and ask for one for the reason given. */
export function signOut(reason: string): void {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(RENEWAL_KEY);
  token.value = '';
  asked.value = reason;
}

/** How the token is renewed; undefined where it is not. */
export function renewal(): Renewal | undefined {
  const kept = sessionStorage.getItem(RENEWAL_KEY);
  return kept ? (JSON.parse(kept) as Renewal) : undefined;
}

/** Renew the token no more: it ends when it ends. */
export function stopRenewing(): void {
  sessionStorage.removeItem(RENEWAL_KEY);
}
