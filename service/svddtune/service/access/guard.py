"""Stands in front of the servicers: finds out who calls, and lets through what they may do."""

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, NoReturn

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from svddtune.process import traces
from svddtune.service.access.caller import Caller, Permission, serve_for
from svddtune.service.access.faults import Forbidden, invalid, missing
from svddtune.service.access.identity import Identities
from svddtune.service.access.lasting import as_long_as
from svddtune.service.access.ownership import Ownership
from svddtune.service.access.permissions import RULES, Rule
from svddtune.service.call_log import name_caller, name_labeler, name_method, name_session
from svddtune.service.status import Context, abort, unbroken
from svddtune.state.errors import StateError

audit = logging.getLogger("svddtune.audit")

# Calls that change something for others are in the audit log.
_AUDITED = {Permission.TUNE, Permission.GOVERN}


class Guarded:
    """A servicer whose methods are called for callers that may call them."""

    def __init__(
        self,
        servicer: object,
        service: ServiceDescriptor,
        identities: Identities,
        ownership: Ownership,
    ) -> None:
        self._servicer = servicer
        self._service = service
        self._identities = identities
        self._ownership = ownership

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a method of the servicer, guarded."""
        method = self._service.methods_by_name[name]
        return partial(self._serve, method, RULES[method.full_name], getattr(self._servicer, name))

    async def _serve(
        self,
        method: MethodDescriptor,
        rule: Rule,
        serve: Callable[[Any, Context], Any],
        request: Any,
        context: Context,
    ) -> Any:
        name_method(method)
        try:
            caller = await self._admitted(method, rule, context)
            serve_for(caller)
            name_caller(caller)
            traces.called_with(context.invocation_metadata)
            if method.client_streaming:
                request = self._each(method, rule, caller, request, context)
            else:
                _name_subjects(rule, caller, request)
                await self._check(rule, caller, request)
        except StateError as error:
            await self._refuse(context, error)
        if caller.known and (rule.waits or method.client_streaming or method.server_streaming):
            serve = self._lasting(method, rule, caller, serve)
        if not caller.known or rule.permission not in _AUDITED:
            return await serve(request, context)
        try:
            response = await serve(request, context)
        except BaseException:
            _note(method, rule, caller, request, "failed")
            raise
        _note(method, rule, caller, request, "done")
        return response

    async def _admitted(self, method: MethodDescriptor, rule: Rule, context: Context) -> Caller:
        """Return the caller. Raises Unauthenticated, Forbidden."""
        caller = await self._identities.caller_of(context)
        if rule.permission is None or caller.role.may(rule.permission):
            return caller
        if not caller.known:
            raise missing()
        role = caller.role.name.lower()
        raise Forbidden(
            "ROLE_TOO_LOW",
            f"{method.name} is not for a {role} of project {caller.project}.",
            method=method.full_name,
            role=role,
        )

    async def _still_admitted(
        self, method: MethodDescriptor, rule: Rule, caller: Caller, context: Context
    ) -> None:
        """Raise Unauthenticated, Forbidden unless an open call may go on."""
        found = await self._admitted(method, rule, context)
        if (found.name, found.project) != (caller.name, caller.project):
            raise invalid("they belong to another caller now")

    def _lasting(
        self,
        method: MethodDescriptor,
        rule: Rule,
        caller: Caller,
        serve: Callable[[Any, Context], Any],
    ) -> Callable[[Any, Context], Any]:
        """A method whose call ends soon after its caller's credentials do."""

        async def served(request: Any, context: Context) -> Any:
            try:
                async with as_long_as(partial(self._still_admitted, method, rule, caller, context)):
                    return await serve(request, context)
            # (The servicer turns its own errors into the status of the call.)
            except StateError as error:
                await self._refuse(context, error)

        return served

    async def _refuse(self, context: Context, error: StateError) -> NoReturn:
        self._identities.note_refusal(error, context.peer())
        await abort(context, error)

    async def _check(self, rule: Rule, caller: Caller, request: Message) -> None:
        """Raise Forbidden, NotFound unless a request names only what is the caller's."""
        if not self._identities.asked:
            return
        for path in rule.names:
            for name in _texts(request, path):
                await unbroken(self._ownership.check(name))
        if rule.labeler:
            _name_labeler(caller, rule.labeler, request)

    async def _each(
        self,
        method: MethodDescriptor,
        rule: Rule,
        caller: Caller,
        requests: AsyncIterator[Message],
        context: Context,
    ) -> AsyncIterator[Message]:
        async for request in requests:
            try:
                # (A stream lives long: its token may have been revoked meanwhile.)
                await self._still_admitted(method, rule, caller, context)
                await self._check(rule, caller, request)
            except StateError as error:
                self._identities.note_refusal(error, context.peer())
                raise
            yield request


def _holder(request: Message, path: str) -> tuple[Any, str] | None:
    """Return the message that has the field at the end of a path, and the field's name.

    None where a message on the way is not set.
    """
    *parents, field = path.split(".")
    message: Any = request
    for parent in parents:
        if not message.HasField(parent):
            return None
        message = getattr(message, parent)
    return message, field


def _texts(request: Message, path: str) -> Iterator[str]:
    found = _holder(request, path)
    if found is None:
        return
    value = getattr(*found)
    yield from [value] if isinstance(value, str) else value


def _name_subjects(rule: Rule, caller: Caller, request: Message) -> None:
    """Let the lines of the log name the session and the labeler of a request."""
    for path in rule.names:
        for name in _texts(request, path):
            name_session(name)
    if rule.labeler:
        name_labeler(caller.name or next(_texts(request, rule.labeler), ""))


def _name_labeler(caller: Caller, path: str, request: Message) -> None:
    """Let a request name its caller as the labeler. Raises Forbidden where it names another."""
    found = _holder(request, path)
    if found is None:
        return
    message, field = found
    caller.must_be(getattr(message, field), path)
    setattr(message, field, caller.name)


def _note(method: MethodDescriptor, rule: Rule, caller: Caller, request: Any, outcome: str) -> None:
    """Write a line of the audit log."""
    subjects: list[str] = []
    if isinstance(request, Message):
        subjects = [text for path in rule.names for text in _texts(request, path) if text]
        subjects += [getattr(request, "labeler", "")] if not rule.labeler else []
    audit.info(
        method.name,
        extra={
            "caller": caller.name,
            "project": caller.project,
            "role": caller.role.name.lower(),
            "subject": " ".join(one for one in subjects if one),
            "outcome": outcome,
        },
    )
