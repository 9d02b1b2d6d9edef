"""Errors to gRPC statuses: the only module that names codes.

=================  =====================  ========================================================
error              code                   exceptions
=================  =====================  ========================================================
InvalidInput       INVALID_ARGUMENT
NotFound           NOT_FOUND
WrongState         FAILED_PRECONDITION
Conflict           ABORTED                ALREADY_ANSWERED: ALREADY_EXISTS, a retry cannot succeed
TooLarge           RESOURCE_EXHAUSTED     DATASET_TOO_LARGE, MODEL_TOO_LARGE, SCORES_TOO_LARGE,
                                          SESSION_TOO_LARGE: INVALID_ARGUMENT, they never fit
Damaged            DATA_LOSS
StoreUnavailable   UNAVAILABLE            none; also STORE_FULL, until its operator makes room
ServerDraining     UNAVAILABLE
Silent             DEADLINE_EXCEEDED
ProviderAway       UNAVAILABLE
Unauthenticated    UNAUTHENTICATED
Forbidden          PERMISSION_DENIED
anything else      INTERNAL               none; the message and the log carry the same id
=================  =====================  ========================================================

Each status carries a google.rpc.Status with ErrorInfo, with BadRequest if fields are at fault, with
PreconditionFailure or QuotaFailure if a state or a limit is, and with RetryInfo if a retry helps.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, NoReturn, TypeAlias, TypeVar
from uuid import uuid4

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from svddtune.service.access.faults import Forbidden, ProviderAway, Unauthenticated
from svddtune.service.draining import ServerDraining
from svddtune.service.silence import Silent
from svddtune.state.errors import (
    Conflict,
    Damaged,
    FieldViolation,
    InvalidFields,
    InvalidInput,
    NotFound,
    QuotaExceeded,
    StateError,
    StoreUnavailable,
    TooLarge,
    WrongState,
)

log = logging.getLogger(__name__)

DOMAIN = "svddtune.github.io"

_CODES: dict[type[StateError], grpc.StatusCode] = {
    InvalidInput: grpc.StatusCode.INVALID_ARGUMENT,
    InvalidFields: grpc.StatusCode.INVALID_ARGUMENT,
    NotFound: grpc.StatusCode.NOT_FOUND,
    WrongState: grpc.StatusCode.FAILED_PRECONDITION,
    Conflict: grpc.StatusCode.ABORTED,
    TooLarge: grpc.StatusCode.RESOURCE_EXHAUSTED,
    QuotaExceeded: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Damaged: grpc.StatusCode.DATA_LOSS,
    StoreUnavailable: grpc.StatusCode.UNAVAILABLE,
    ServerDraining: grpc.StatusCode.UNAVAILABLE,
    Silent: grpc.StatusCode.DEADLINE_EXCEEDED,
    ProviderAway: grpc.StatusCode.UNAVAILABLE,
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    Forbidden: grpc.StatusCode.PERMISSION_DENIED,
}
_CODES_BY_REASON = {
    "ALREADY_ANSWERED": grpc.StatusCode.ALREADY_EXISTS,
    "DATASET_TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT,
    "MODEL_TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT,
    "SCORES_TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT,
    "SESSION_TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT,
}
# State knows ids; callers know resource names.
_COLLECTIONS = {"dataset": "datasets/", "session": "sessions/", "result": "sessions/"}
# What a failed precondition or a limit is about: the first of these that the error names.
_SUBJECTS = ("session", "dataset", "model")
_RETRY_S = 1
# Statuses travel in HTTP headers, which clients limit to 8 KiB.
_LONGEST_MESSAGE = 400
_LONGEST_VALUE = 200
_MOST_VIOLATIONS = 10

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
Servicer = TypeVar("Servicer")
Request = TypeVar("Request")
Response = TypeVar("Response")


def code_of(error: StateError) -> grpc.StatusCode:
    """The code of an error."""
    return code_of_kind(error.reason, type(error))


def code_of_kind(reason: str, kind: type[StateError]) -> grpc.StatusCode:
    """The code of errors of one kind and reason."""
    return _CODES_BY_REASON.get(reason) or _CODES.get(kind, grpc.StatusCode.INTERNAL)


def status_proto(error: StateError) -> status_pb2.Status:
    """The google.rpc.Status of an error."""
    code = code_of(error)
    message = _shortened(error.message, _LONGEST_MESSAGE)
    metadata = {
        key: _shortened(_full_name(key, text), _LONGEST_VALUE)
        for key, text in error.metadata.items()
    }
    details: list[Message] = [
        error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata)
    ]
    if violations := _violations(error, message):
        details.append(
            error_details_pb2.BadRequest(
                field_violations=[
                    error_details_pb2.BadRequest.FieldViolation(
                        field=one.field,
                        description=_shortened(one.description, _LONGEST_VALUE),
                        reason=one.reason,
                    )
                    for one in violations[:_MOST_VIOLATIONS]
                ]
            )
        )
    subject = next((metadata[key] for key in _SUBJECTS if key in metadata), "")
    if isinstance(error, WrongState):
        failure = error_details_pb2.PreconditionFailure()
        failure.violations.add(type=error.reason, subject=subject, description=message)
        details.append(failure)
    if isinstance(error, TooLarge):
        quota = error_details_pb2.QuotaFailure()
        quota.violations.add(subject=_subject_of_limit(error, subject), description=message)
        details.append(quota)
    retry_s: float | None = _RETRY_S if code is grpc.StatusCode.UNAVAILABLE else None
    if isinstance(error, QuotaExceeded):
        retry_s = error.retry_s
    if retry_s is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(max(1, math.ceil(retry_s * 1000)))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return status_pb2.Status(code=code.value[0], message=message, details=map(_packed, details))


def _subject_of_limit(error: StateError, subject: str) -> str:
    """What a limit is on: the client or the project that has too much, or the thing too large."""
    for kind in ("client", "project"):
        if kind in error.metadata:
            return f"{kind}:{error.metadata[kind]}"
    return subject


def _full_name(key: str, text: str) -> str:
    collection = _COLLECTIONS.get(key, "")
    return text if text.startswith(collection) else collection + text


def _violations(error: StateError, message: str) -> Sequence[FieldViolation]:
    if isinstance(error, InvalidFields):
        return error.violations
    if "field" in error.metadata:
        return [FieldViolation(error.metadata["field"], message, error.reason)]
    return []


def rpc(
    method: Callable[[Servicer, Request, Context], Awaitable[Response]],
) -> Callable[[Servicer, Request, Context], Any]:
    """Let a servicer's coroutine end with the status of any error it raises."""

    @wraps(method)
    async def with_status(self: Servicer, request: Request, context: Context) -> Response | None:
        try:
            return await method(self, request, context)
        except StateError as error:
            if code_of(error) is grpc.StatusCode.UNAVAILABLE:
                log.warning("%s: %s", method.__name__, error.message)
            fault = error
        except grpc.aio.AbortError:
            raise
        except Exception:
            if context.done():
                return None
            fault = internal(method.__name__)
        return await abort(context, fault)

    return with_status


async def abort(context: Context, error: StateError) -> NoReturn:
    """End a call with an error's status."""
    status = status_proto(error)
    trailer = ("grpc-status-details-bin", status.SerializeToString())
    await context.abort(code_of(error), status.message, trailing_metadata=(trailer,))


def undisturbed(
    method: Callable[[Servicer, Request, Context], Coroutine[Any, Any, Response]],
) -> Callable[[Servicer, Request, Context], Awaitable[Response]]:
    """Let a short coroutine run to its end even if the caller has gone."""

    @wraps(method)
    async def to_the_end(self: Servicer, request: Request, context: Context) -> Response:
        return await unbroken(method(self, request, context))

    return to_the_end


_running: set[asyncio.Task[Any]] = set()


async def unbroken(work: Coroutine[Any, Any, Response]) -> Response:
    """Await work that goes on if the awaiting call is cancelled.

    A cancelled command would leave its connection to Redis in the middle of a reply.
    """
    return await outlasting(lasting(work))


def lasting(work: Coroutine[Any, Any, Response]) -> asyncio.Task[Response]:
    """Start work that nobody has to keep."""
    task = asyncio.ensure_future(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


async def outlasting(task: asyncio.Future[Response]) -> Response:
    """Await a task that goes on if the awaiting call is cancelled; its failure is logged then."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_fault)
        raise


def _log_fault(task: asyncio.Future[Any]) -> None:
    fault = None if task.cancelled() else task.exception()
    # (A refusal was meant for the caller, which has gone.)
    if fault is not None and not isinstance(fault, StateError):
        log.error("a call failed after its caller had left", exc_info=fault)


def internal(method: str) -> StateError:
    """The error for a fault of ours, which is logged; call it where the exception is caught."""
    error_id = uuid4().hex[:12]
    log.exception("%s failed", method, extra={"error_id": error_id})
    return StateError(
        "INTERNAL",
        f"The server failed; its log has the details under the id {error_id}.",
        error_id=error_id,
    )


def _packed(detail: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 4] + " ..."
