/** Signing in at an OpenID Connect issuer: authorization code with PKCE, and renewal of its tokens. */
import { renewal, signIn, stopRenewing, token, type Renewal } from './token';

const KEY = 'svddtune.sign-in';
/** A token is renewed so long before its end, or at half of its time if that is later. */
const EARLY_MS = 30_000;

/** The issuer does not sign the person in; the message is a sentence for people. */
export class SignInFailed extends Error {}

export interface IssuerSettings {
  issuer: string;
  clientId: string;
  scopes: readonly string[];
}

interface Configuration {
  issuer?: string;
  authorization_endpoint?: string;
  token_endpoint?: string;
}

/** What is kept while the person is at the issuer. */
interface Begun {
  issuer: string;
  clientId: string;
  endpoint: string;
  state: string;
  nonce: string;
  verifier: string;
  /** The page to come back to. */
  hash: string;
}

interface Granted {
  access_token?: string;
  expires_in?: number;
  refresh_token?: string;
  id_token?: string;
  error?: string;
  error_description?: string;
}

/** Leave for the issuer's page. Throws SignInFailed. */
export async function begin({ issuer, clientId, scopes }: IssuerSettings): Promise<void> {
  if (!crypto.subtle) throw new SignInFailed('Signing in at an issuer needs https:// in the address of this page.');
  const found = await configuration(issuer);
  const [state, nonce, verifier] = [random(), random(), random()];
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const begun: Begun = {
    ...{ issuer, clientId, state, nonce, verifier },
    endpoint: found.token_endpoint,
    hash: location.hash,
  };
  sessionStorage.setItem(KEY, JSON.stringify(begun));
  const address = new URL(found.authorization_endpoint);
  const query = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: home(),
    scope: scopes.join(' '),
    ...{ state, nonce },
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  };
  for (const [key, value] of Object.entries(query)) address.searchParams.set(key, value);
  location.assign(address);
}

/** Come back from the issuer, if that is where the page comes from. Throws SignInFailed. */
export async function comeBack(): Promise<void> {
  const answer = new URLSearchParams(location.search);
  if (!answer.has('state')) return;
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const begun = kept ? (JSON.parse(kept) as Begun) : undefined;
  // The code is good once; nobody should find it in the address or the history all the same.
  history.replaceState(null, '', `/${begun?.hash ?? location.hash}`);
  // (Replacing the address makes no event, and the page shown follows from the address.)
  dispatchEvent(new Event('hashchange'));
  if (!begun || answer.get('state') !== begun.state) {
    throw new SignInFailed('This sign-in was not begun in this tab. Please begin again.');
  }
  if ((answer.get('iss') ?? begun.issuer) !== begun.issuer) {
    throw new SignInFailed('Another issuer has answered than the one that was asked.');
  }
  const code = answer.get('code');
  if (!code) throw new SignInFailed(answer.get('error_description') ?? answer.get('error') ?? 'There is no code.');
  const granted = await grant(begun.endpoint, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: home(),
    client_id: begun.clientId,
    code_verifier: begun.verifier,
  });
  checkIdentity(granted.id_token, begun);
  take(granted, begun);
}

let renewing: Promise<void> | undefined;

/** Renew the token if its end is near. If that fails, the service says what it thinks of the old one. */
export async function keepFresh(): Promise<void> {
  const held = renewal();
  if (held && Date.now() >= held.due) await renewOnce(held);
}

/** Renew a token that the service refuses, as it may have ended by the service's clock. Whether there is another. */
export async function renewRefused(shown: string): Promise<boolean> {
  const held = renewal();
  if (held && token.value === shown) await renewOnce(held);
  return token.value !== shown && token.value !== '';
}

function renewOnce(held: Renewal): Promise<void> {
  renewing ??= renew(held).finally(() => {
    renewing = undefined;
  });
  return renewing;
}

async function renew(held: Renewal): Promise<void> {
  const { endpoint, clientId, refreshToken } = held;
  try {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
    const granted = await grant(endpoint, form);
    if (renewal()) take({ refresh_token: refreshToken, ...granted }, held);
  } catch (error) {
    // An issuer that is away may be back before the next call.
    if (error instanceof SignInFailed) stopRenewing();
  }
}

function take(granted: Granted, { endpoint, clientId }: Pick<Begun, 'endpoint' | 'clientId'>): void {
  const { access_token: text = '', refresh_token: refreshToken, expires_in: seconds } = granted;
  if (!refreshToken || !seconds) return signIn(text);
  const lasting = 1000 * seconds;
  signIn(text, { endpoint, clientId, refreshToken, due: Date.now() + lasting - Math.min(EARLY_MS, lasting / 2) });
}

async function configuration(issuer: string): Promise<Required<Configuration>> {
  let found: Configuration;
  try {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await fetch(address, { credentials: 'omit', redirect: 'error' });
    found = (await response.json()) as Configuration;
  } catch {
    throw new SignInFailed(`The issuer ${issuer} does not answer this page. Try again, or ask who runs it.`);
  }
  const { authorization_endpoint: asking = '', token_endpoint: granting = '' } = found;
  if (found.issuer !== issuer || !safe(asking, issuer) || !safe(granting, issuer)) {
    throw new SignInFailed(`The issuer ${issuer} describes itself as another one, or by addresses that are not safe.`);
  }
  return { issuer, authorization_endpoint: asking, token_endpoint: granting };
}

/** Whether an address has the scheme of the issuer: https, or http in tests on one machine. */
function safe(address: string, issuer: string): boolean {
  return URL.canParse(address) && new URL(address).protocol === new URL(issuer).protocol;
}

async function grant(endpoint: string, form: Record<string, string>): Promise<Granted> {
  const response = await fetch(endpoint, {
    method: 'POST',
    body: new URLSearchParams(form),
    credentials: 'omit',
    redirect: 'error',
  });
  const granted = (await response.json()) as Granted;
  if (response.status >= 500) throw new Error(`The issuer answers with status ${response.status}.`);
  if (!response.ok || !granted.access_token) {
    throw new SignInFailed(`The issuer gives no token: ${granted.error_description ?? granted.error ?? 'no reason'}.`);
  }
  return granted;
}

/** The identity came from the issuer itself by an encrypted connection, so its signature adds nothing. */
function checkIdentity(identity: string | undefined, { issuer, clientId, nonce }: Begun): void {
  // (Only an issuer that was not asked for "openid" may leave it out.)
  if (!identity) return;
  let claims: { iss?: string; aud?: string | string[]; nonce?: string };
  try {
    const part = (identity.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (one) => one.charCodeAt(0))));
  } catch {
    throw new SignInFailed('The issuer gives an identity that cannot be read.');
  }
  if (claims.iss !== issuer || ![claims.aud].flat().includes(clientId) || claims.nonce !== nonce) {
    throw new SignInFailed('The issuer gives an identity that was not asked for here. Please begin again.');
  }
}

/** Where the issuer sends the person back to. */
function home(): string {
  return `${location.origin}/`;
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
