import type { DescMethod } from "@bufbuild/protobuf";
import { Code, type Transport } from "@connectrpc/connect";

import { toError } from "./errors.js";
import { serviceConfig } from "./gen/service_config.js";
import { Pause } from "./pause.js";

interface MethodConfig {
  name: readonly { service: string; method: string }[];
  timeout?: `${number}s`;
  retryPolicy?: { maxAttempts: number; retryableStatusCodes: readonly string[] };
}

/** How long each call may take, and how often it may be tried, by its path. */
const configured = new Map(
  (serviceConfig.methodConfig as readonly MethodConfig[]).flatMap(({ name, timeout, retryPolicy }) => {
    const repeatable = retryPolicy?.retryableStatusCodes.includes("UNAVAILABLE");
    const limits = {
      timeoutMs: timeout ? 1000 * Number.parseFloat(timeout) : 0, // 0: no limit
      attempts: repeatable ? retryPolicy!.maxAttempts : 1,
    };
    return name.map(({ service, method }) => [`${service}/${method}`, limits] as const);
  }),
);

function limitsOf(method: DescMethod): { timeoutMs: number; attempts: number } {
  return configured.get(`${method.parent.typeName}/${method.name}`) ?? { timeoutMs: 0, attempts: 1 };
}

/**
 * The transport with errors of type SvddtuneError and the deadlines of the service config. It repeats unary calls that are safe to repeat while
 * the service is unavailable.
 */
export function reliable(transport: Transport): Transport {
  return {
    async unary(method, signal, timeoutMs, ...rest) {
      const pause = new Pause(Number.POSITIVE_INFINITY);
      const limits = limitsOf(method);
      for (let attempt = 1; ; attempt++) {
        try {
          return await transport.unary(method, signal, timeoutMs ?? limits.timeoutMs, ...rest);
        } catch (cause) {
          const error = toError(cause);
          if (attempt >= limits.attempts || error.code !== Code.Unavailable) throw error;
          await pause.after(error, signal);
        }
      }
    },
    async stream(method, signal, timeoutMs, ...rest) {
      try {
        const limit = timeoutMs ?? limitsOf(method).timeoutMs;
        const response = await transport.stream(method, signal, limit, ...rest);
        return { ...response, message: typed(response.message) };
      } catch (error) {
        throw toError(error);
      }
    },
  };
}

async function* typed<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    throw toError(error);
  }
}
