import { readFile } from "node:fs/promises";
import type { SecureClientSessionOptions } from "node:http2";
import { BlockList, isIP } from "node:net";
import { createSecureContext } from "node:tls";

import { Code } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";

import { Client } from "./client.js";
import { SvddtuneError } from "./errors.js";
import { type Token, withToken } from "./token.js";

/** How to connect. */
export interface ConnectOptions {
  /**
   * TLS: `ca` has certificates to trust; `cert` and `key` tell the service who calls. Without it the
   * connection is not encrypted.
   */
  tls?: SecureClientSessionOptions;
  /** Tells the service who calls. Without TLS it is sent to a loopback address only. */
  token?: Token;
}

/**
 * Returns a client of the service at an address, e.g. "127.0.0.1:50051". The connection is made with the
 * first call. Close the client after use.
 *
 * @throws SvddtuneError TOKEN_NOT_ENCRYPTED: others could read the token. INVALID_CERTIFICATE: no
 *   certificates, or a key that is not that of the certificate.
 */
export function connect(address: string, { tls, token }: ConnectOptions = {}): Client {
  if (tls) check(tls);
  else if (token !== undefined && !isLocal(address)) {
    throw invalid(`a token is not sent to ${address} without TLS: give tls`, "TOKEN_NOT_ENCRYPTED");
  }
  const baseUrl = `${tls ? "https" : "http"}://${address}`;
  const keepalive = { pingIntervalMs: 60_000, pingTimeoutMs: 20_000 };
  const sessionManager = new Http2SessionManager(baseUrl, keepalive, tls);
  const transport = createGrpcTransport({ baseUrl, sessionManager });
  return new Client(token === undefined ? transport : withToken(transport, token), () => sessionManager.abort());
}

/** What a file holds now, as a token that may be replaced in it. */
export function tokenFile(path: string): () => Promise<string> {
  return () => readFile(path, "utf8");
}

function check(tls: SecureClientSessionOptions): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw invalid(`the certificates of tls do not serve: ${cause}`, "INVALID_CERTIFICATE", { cause });
  }
}

function isLocal(address: string): boolean {
  const host = address.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  const version = isIP(host);
  return host === "localhost" || (version > 0 && loopback.check(host, version === 4 ? "ipv4" : "ipv6"));
}

function invalid(message: string, reason: string, options?: ErrorOptions): SvddtuneError {
  return new SvddtuneError(message, Code.InvalidArgument, reason, {}, [], 0, options);
}
