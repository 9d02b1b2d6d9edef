/** Calls of the service: JSON over HTTP, with the token that the person has shown. */
import { keepFresh, renewRefused } from './issuer';
import { asked, signOut, token } from './token';

/** The service refuses: `reason` is stable, `message` is a sentence for people. */
export class ServiceError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly metadata: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** Whether the same call may succeed later: the service is there, but not its store, say. */
  get passing(): boolean {
    return this.status === 503 || this.status === 504;
  }
}

/** No answer came: the service is away, or the connection is. */
export class Unreachable extends Error {
  constructor() {
    super('The service cannot be reached.');
  }
}

export interface CallOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Becomes JSON. */
  body?: unknown;
  /** Text that is sent as it is, e.g. lines of JSON. */
  text?: { content: string | Blob; type: string };
  signal?: AbortSignal;
  /** The call ends although the page goes away; at most 64 KiB. */
  keepalive?: boolean;
}

/** Call and return the response as it comes. Throws ServiceError or Unreachable. */
export async function open(path: string, options: CallOptions = {}): Promise<Response> {
  await keepFresh();
  let shown = token.value;
  const headers = new Headers();
  if (shown) headers.set('Authorization', `Bearer ${shown}`);
  let body: string | Blob | undefined;
  if (options.text) {
    headers.set('Content-Type', options.text.type);
    body = options.text.content;
  } else if (options.body !== undefined) {
    headers.set('Content-Type', 'application/json');
    body = JSON.stringify(options.body);
  }
  const init: RequestInit = {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    keepalive: options.keepalive ?? false,
    // The console keeps no cookie, and sends none.
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  };
  if (body !== undefined) init.body = body;
  if (options.signal) init.signal = options.signal;
  const send = async (): Promise<Response> => {
    try {
      return await fetch(path, init);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new Unreachable();
    }
  };
  let response = await send();
  if (response.status === 401 && (await renewRefused(shown))) {
    shown = token.value;
    headers.set('Authorization', `Bearer ${shown}`);
    response = await send();
  }
  if (response.ok) return response;
  const refused = await refusal(response);
  // A late refusal says nothing of the token that was shown since, and no more than what is said already.
  if (refused.status === 401 && shown === token.value && (shown || asked.value === undefined)) {
    // (What the service says then is for programs.)
    const first = refused.reason === 'CREDENTIALS_MISSING';
    signOut(first ? 'This service asks who you are.' : refused.message);
  }
  throw refused;
}

/** Call and return the message of the response. Throws ServiceError or Unreachable. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await open(path, options);
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable();
  }
}

interface Said {
  error?: {
    message?: string;
    status?: string;
    details?: { reason?: string; metadata?: Record<string, string> }[];
  };
}

/** What a response that is not OK says. */
export async function refusal(response: Response): Promise<ServiceError> {
  let said: Said = {};
  try {
    said = (await response.json()) as Said;
  } catch {
    // A proxy in between answers in its own words.
  }
  const info = said.error?.details?.find((one) => one.reason);
  return new ServiceError(
    response.status,
    info?.reason ?? said.error?.status ?? `HTTP_${response.status}`,
    said.error?.message ?? `The service answers with status ${response.status}.`,
    info?.metadata,
  );
}

/** A path with names in it: each is written so that it stays one part of the path. */
export function path(parts: TemplateStringsArray, ...names: string[]): string {
  // A resource name such as sessions/p00-1a2b keeps its slash.
  const written = names.map((one) => one.split('/').map(encodeURIComponent).join('/'));
  return parts.reduce((whole, part, i) => whole + part + (written[i] ?? ''), '');
}
