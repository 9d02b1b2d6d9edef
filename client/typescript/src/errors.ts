import { Code, ConnectError } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import { type Status, StatusSchema } from "./gen/google/rpc/status_pb.js";

/** A faulty field of a request. */
export interface Violation {
  readonly field: string;
  readonly description: string;
}

/** A failed call, or one refused item of a dialogue. All calls of a Client throw it. */
export class SvddtuneError extends Error {
  override readonly name = "SvddtuneError";

  /**
   * @param sentence A sentence for people; `message` adds the reason or the code.
   * @param code The gRPC code.
   * @param reason Stable and in UPPER_SNAKE_CASE, e.g. SESSION_NOT_FOUND. It is empty if the error
   *   does not come from the service, e.g. if nobody answers at the address.
   * @param metadata The values that the message names.
   * @param violations The faulty fields of the request.
   * @param retryAfterMs The delay that the service asks for; 0 if it asks for none.
   */
  constructor(
    readonly sentence: string,
    readonly code: Code,
    readonly reason = "",
    readonly metadata: Readonly<Record<string, string>> = {},
    readonly violations: readonly Violation[] = [],
    readonly retryAfterMs = 0,
    options?: ErrorOptions,
  ) {
    super(`${sentence} [${reason || Code[code]}]`, options);
  }

  /** Whether the same call may succeed later. */
  get temporary(): boolean {
    return [Code.Unavailable, Code.DeadlineExceeded, Code.Canceled].includes(this.code) || this.faulty;
  }

  /**
   * A fault that is not the service's own: a proxy's, the transport's, or of a message that cannot be
   * decoded.
   */
  get faulty(): boolean {
    return this.reason === "" && [Code.Aborted, Code.Internal, Code.Unknown].includes(this.code);
  }
}

/** The error as a SvddtuneError. */
export function toError(cause: unknown): SvddtuneError {
  if (cause instanceof SvddtuneError) return cause;
  const error = ConnectError.from(cause);
  const [info] = error.findDetails(ErrorInfoSchema);
  const [fields] = error.findDetails(BadRequestSchema);
  const [retry] = error.findDetails(RetryInfoSchema);
  return new SvddtuneError(
    error.rawMessage,
    error.code,
    info?.reason,
    info?.metadata,
    fields?.fieldViolations,
    retry?.retryDelay && durationMs(retry.retryDelay),
    { cause },
  );
}

/** The error of a status inside a message, e.g. in Reject. */
export function fromStatus(status: Status = create(StatusSchema)): SvddtuneError {
  const error = new ConnectError(status.message, status.code);
  error.details = status.details.map((any) => ({
    type: any.typeUrl.slice(any.typeUrl.lastIndexOf("/") + 1),
    value: any.value,
  }));
  return toError(error);
}

/**
 * The error of a stream, but none if the token has expired since the service took it: the next stream asks for
 * another.
 */
export function renewable(error: SvddtuneError, served: boolean): SvddtuneError | undefined {
  return served && error.code === Code.Unauthenticated ? undefined : error;
}

export function invalid(message: string): SvddtuneError {
  return new SvddtuneError(message, Code.InvalidArgument, "INVALID_FIELD");
}
