import { Code, type Transport } from "@connectrpc/connect";

import { SvddtuneError } from "./errors.js";

/** A token that tells the service who calls, or what returns the one that is valid now, before each call. */
export type Token = string | (() => string | Promise<string>);

/**
 * The transport with a token on each call. A function that fails ends the call with TOKEN_UNAVAILABLE, which
 * is temporary. Give the transport TLS: others on the way can read a token.
 */
export function withToken(transport: Transport, token: Token): Transport {
  const bearing = async (header: HeadersInit | undefined): Promise<Headers> => {
    const headers = new Headers(header);
    try {
      const text = typeof token === "string" ? token : await token();
      headers.set("authorization", `Bearer ${text.trim()}`);
    } catch (cause) {
      throw new SvddtuneError("there is no token", Code.Unavailable, "TOKEN_UNAVAILABLE", {}, [], 0, { cause });
    }
    return headers;
  };
  return {
    unary: async (method, signal, timeoutMs, header, ...rest) =>
      transport.unary(method, signal, timeoutMs, await bearing(header), ...rest),
    stream: async (method, signal, timeoutMs, header, ...rest) =>
      transport.stream(method, signal, timeoutMs, await bearing(header), ...rest),
  };
}
