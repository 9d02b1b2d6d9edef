"""Calling scripts: arguments by name, refusals to exceptions; a repeated call has one effect."""

import string
import time
from collections.abc import Mapping
from typing import Any

from redis.exceptions import NoScriptError

from svddtune.state import keys, scripts
from svddtune.state.connect import AsyncRedis, Redis
from svddtune.state.errors import (
    ClaimLost,
    Conflict,
    InvalidInput,
    NotFound,
    QuotaExceeded,
    StateError,
    TooLarge,
    WrongState,
)
from svddtune.state.faults import redis_faults, store_call
from svddtune.state.observed import observer
from svddtune.state.projects import scoped_uuid
from svddtune.state.session import Verdict

# Reason of a refusal -> exception and sentence. Sentences name the values and what to do.
_REFUSALS: dict[str, tuple[type[StateError], str]] = {
    "SESSION_NOT_FOUND": (NotFound, "There is no session {session}."),
    "DATASET_NOT_FOUND": (NotFound, "There is no dataset {dataset}; upload it first."),
    "DATASET_IN_USE": (
        WrongState,
        "Dataset {dataset} is in use by {sessions} session(s); delete them first.",
    ),
    "DATASET_INCOMPLETE": (
        InvalidInput,
        "The upload is incomplete: parts of it have expired. Upload the dataset again.",
    ),
    "REQUEST_ID_REUSED": (
        InvalidInput,
        "Request id {request_id} was already used for a different request; use a new one.",
    ),
    "UPLOAD_NOT_FOUND": (
        NotFound,
        "There is no upload {upload} to resume: it never began, or it is too old. Begin again.",
    ),
    "UPLOAD_ID_REUSED": (
        InvalidInput,
        "Upload {upload} began with a different header; send the same one, or use a new id.",
    ),
    "UPLOAD_TAKEN_OVER": (
        Conflict,
        "Upload {upload} goes on in a stream that was opened later.",
    ),
    "MODEL_NOT_FOUND": (
        NotFound,
        "There is no model {model}: it was never uploaded, or its time is over. Upload it again.",
    ),
    "ANSWER_ID_REUSED": (
        InvalidInput,
        "Answer id {answer_id} was already used for a different answer; use a new one.",
    ),
    "UNKNOWN_QUERY": (NotFound, "Session {session} has no query {query}."),
    "OBSERVATION_MISMATCH": (
        InvalidInput,
        "Query {query} asks about row {asked_row}, not about row {row}.",
    ),
    "LEASE_LOST": (
        WrongState,
        "Lease {lease_id} on query {query} is not held or no longer held; lease the query again.",
    ),
    "SESSION_NOT_ACTIVE": (
        WrongState,
        "Session {session} is {state} and takes no labels now.",
    ),
    "ALREADY_ANSWERED": (
        Conflict,
        "Row {row} is already labelled {verdict}; to change the label, retract it first.",
    ),
    "AWAITS_ADJUDICATION": (
        Conflict,
        "The votes on row {row} came to no verdict; an adjudicator of the session decides now.",
    ),
    "TOO_MANY_CORRECTIONS": (
        TooLarge,
        "{labeler} has corrected, retracted or answered late {most} times on row {row}, which is "
        "the limit; no more changes are accepted for this row.",
    ),
    "TOO_MANY_EVENTS": (
        QuotaExceeded,
        "Labelers have corrected, retracted or answered late {used} times on row {row}; the limit "
        "is {limit}, so no more changes are accepted for this row.",
    ),
    "NOT_LABELED": (WrongState, "Row {row} has no label of {labeler} to retract."),
    "NOTHING_TO_REOPEN": (
        WrongState,
        "Row {row} has no vote and was not left out, so there is nothing to ask again.",
    ),
    "LABELER_WITHDRAWN": (
        WrongState,
        "The votes of {labeler} in session {session} were withdrawn; reinstate the labeler first.",
    ),
    "UNKNOWN_LABELER": (NotFound, "Session {session} has no labeler {labeler}."),
    "ETAG_MISMATCH": (
        Conflict,
        "Session {session} has changed since etag {etag}: it is {current} now. Read the session "
        "and decide again.",
    ),
    "ILLEGAL_TRANSITION": (
        WrongState,
        "Session {session} is {state} and cannot {verb} now.",
    ),
    "BUDGET_SPENT": (
        WrongState,
        "The budget of {budget} labels is spent ({labels} given); raise the budget first.",
    ),
    "QUOTA_EXCEEDED": (
        QuotaExceeded,
        "Project {project} has {used} {quota} of {limit} that it may have, which leaves too little "
        "room; delete what is not needed, or let the operator of the service raise the limit.",
    ),
    "BUDGET_TOO_SMALL": (
        InvalidInput,
        "Budget {budget} is below the {labels} labels that the session already has.",
    ),
    "BUDGET_TOO_LARGE": (
        InvalidInput,
        "Budget {budget} is above the {n} observations of the dataset.",
    ),
}


def _check_sentences() -> None:
    """Raise ValueError where a sentence names a value that a script with this refusal lacks."""
    for script in scripts.SCRIPTS.values():
        for reason, values in script.refusals.items():
            known = script.arguments.keys() | set(values)
            if reason != "CLAIM_LOST" and not _named_in(reason) <= known:
                raise ValueError(
                    f"script {script.name}: {reason} lacks {_named_in(reason) - known}"
                )


def _named_in(reason: str) -> set[str]:
    """Names of the values in the sentence of a refusal."""
    return {name for _, name, _, _ in string.Formatter().parse(_REFUSALS[reason][1]) if name}


_check_sentences()


def _reply(name: str, packed: bytes, arguments: Mapping[str, object]) -> dict[str, Any]:
    reason, reply = scripts.SCRIPTS[name].unpack(packed)
    if reason is None:
        return reply
    if reason == "CLAIM_LOST":
        raise ClaimLost(str(arguments["claim"]))
    raise refusal(reason, reply, arguments)


def refusal(reason: str, reply: Mapping[str, Any], arguments: Mapping[str, object]) -> StateError:
    """The exception of a refusal, from the values that came with it and those that were given."""
    kind, sentence = _REFUSALS[reason]
    found = dict(reply)
    if "verdict" in found:
        found["verdict"] = Verdict(found["verdict"]).name
    values = {**arguments, **found}
    named = _named_in(reason) | found.keys() | ({"session", "dataset"} & arguments.keys())
    return kind(reason, sentence.format_map(values), **{name: values[name] for name in named})


class _Scripts:
    """The scripts as one client knows them."""

    def __init__(self, client: Redis | AsyncRedis) -> None:
        self._client = client
        self._registered: dict[str, Any] = {}

    def _prepare(
        self, name: str, prefix: str, arguments: Mapping[str, object]
    ) -> tuple[Any, dict[str, list[Any]]]:
        """What is to be called, and with what: all attempts at a call have the same key."""
        script = scripts.SCRIPTS[name]
        registered = self._registered.get(name)
        if registered is None:
            registered = self._registered[name] = self._client.register_script(script.source)
        request_id = arguments.get("request_id") if script.by_request else None
        key = (
            keys.request_call(prefix, scoped_uuid(str(request_id)))
            if request_id
            else keys.new_call(prefix)
        )
        return registered, {"keys": [key], "args": [script.pack(arguments)]}


class Scripts(_Scripts):
    """Calls scripts synchronously."""

    def __call__(self, script: str, prefix: str, /, **arguments: object) -> dict[str, Any]:
        """Run a script in a partition and return its reply.

        Raises
        ------
        StateError
            The script refused; ClaimLost where it takes a claim that is lost.
        StoreUnavailable
            Redis is away.
        TypeError
            The arguments are not those that the script declares.
        """
        known, given = self._prepare(script, prefix, arguments)
        (key,), (packed_arguments,) = given["keys"], given["args"]
        began = time.perf_counter()
        with redis_faults():
            try:
                packed = self._client.evalsha(known.sha, 1, key, packed_arguments)
            except NoScriptError:
                packed = self._client.eval(known.script, 1, key, packed_arguments)
        observer().script_ran(script, time.perf_counter() - began)
        return _reply(script, packed, arguments)


class AsyncScripts(_Scripts):
    """Calls scripts asynchronously."""

    async def __call__(self, script: str, prefix: str, /, **arguments: object) -> dict[str, Any]:
        """Run a script in a partition and return its reply; raises as ``Scripts`` does."""
        known, given = self._prepare(script, prefix, arguments)
        (key,), (packed_arguments,) = given["keys"], given["args"]
        client = self._client.durable if scripts.SCRIPTS[script].durable else self._client
        began = time.perf_counter()
        async with store_call():
            try:
                packed = await client.evalsha(known.sha, 1, key, packed_arguments)
            except NoScriptError:
                # (EVAL loads it as well. Between a SCRIPT LOAD and another EVALSHA, as redis-py has
                # it, the address may come to lead to another server.)
                packed = await client.eval(known.script, 1, key, packed_arguments)
        observer().script_ran(script, time.perf_counter() - began)
        return _reply(script, packed, arguments)
