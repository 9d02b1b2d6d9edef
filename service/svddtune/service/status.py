"""Errors to gRPC statuses: the only module that names codes.

=================  =====================  ========================================================
error              code                   exceptions
=================  =====================  ========================================================
InvalidInput       INVALID_ARGUMENT
NotFound           NOT_FOUND
WrongState         FAILED_PRECONDITION
Conflict           ABORTED                ALREADY_ANSWERED: ALREADY_EXISTS, a retry cannot succeed
TooLarge           RESOURCE_EXHAUSTED     DATASET_TOO_LARGE, SESSION_TOO_LARGE:
                                          INVALID_ARGUMENT, they never fit
Damaged            DATA_LOSS
StoreUnavailable   UNAVAILABLE            none; also STORE_FULL, until its operator makes room
ServerDraining     UNAVAILABLE
Silent             DEADLINE_EXCEEDED
anything else      INTERNAL               none; the message and the log carry the same id
=================  =====================  ========================================================

Each status carries a google.rpc.Status with ErrorInfo, with BadRequest if fields are at fault, and
with RetryInfo if a retry helps.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, NoReturn, TypeAlias, TypeVar
from uuid import uuid4

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from svddtune.service.draining import ServerDraining
from svddtune.service.silence import Silent
from svddtune.state.errors import (
    Conflict,
    Damaged,
    FieldViolation,
    InvalidFields,
    InvalidInput,
    NotFound,
    StateError,
    StoreUnavailable,
    TooLarge,
    WrongState,
)

log = logging.getLogger(__name__)

DOMAIN = "svddtune"

_CODES: dict[type[StateError], grpc.StatusCode] = {
    InvalidInput: grpc.StatusCode.INVALID_ARGUMENT,
    InvalidFields: grpc.StatusCode.INVALID_ARGUMENT,
    NotFound: grpc.StatusCode.NOT_FOUND,
    WrongState: grpc.StatusCode.FAILED_PRECONDITION,
    Conflict: grpc.StatusCode.ABORTED,
    TooLarge: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Damaged: grpc.StatusCode.DATA_LOSS,
    StoreUnavailable: grpc.StatusCode.UNAVAILABLE,
    ServerDraining: grpc.StatusCode.UNAVAILABLE,
    Silent: grpc.StatusCode.DEADLINE_EXCEEDED,
}
_CODES_BY_REASON = {
    "ALREADY_ANSWERED": grpc.StatusCode.ALREADY_EXISTS,
    "DATASET_TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT,
    "SESSION_TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT,
}
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
    return _CODES_BY_REASON.get(error.reason) or _CODES.get(type(error), grpc.StatusCode.INTERNAL)


def status_proto(error: StateError) -> status_pb2.Status:
    """The google.rpc.Status of an error."""
    code = code_of(error)
    message = _shortened(error.message, _LONGEST_MESSAGE)
    metadata = {key: _shortened(text, _LONGEST_VALUE) for key, text in error.metadata.items()}
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
    if code is grpc.StatusCode.UNAVAILABLE:
        delay = duration_pb2.Duration(seconds=_RETRY_S)
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return status_pb2.Status(code=code.value[0], message=message, details=map(_packed, details))


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
            fault = _internal(method.__name__)
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
    task = asyncio.ensure_future(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return await outlasting(task)


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


def _internal(method: str) -> StateError:
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
