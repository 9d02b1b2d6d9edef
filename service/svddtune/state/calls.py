"""Calling scripts: arguments to text, refusals to exceptions; a repeated call has one effect."""

import json
from typing import Any

from svddtune.state import keys, scripts
from svddtune.state.connect import AsyncRedis, Redis
from svddtune.state.errors import (
    ClaimLost,
    Conflict,
    InvalidInput,
    NotFound,
    StateError,
    TooLarge,
    WrongState,
)
from svddtune.state.faults import redis_faults, store_call

Argument = str | bytes | int | float

_VERDICTS = {"1": "INLIER", "-1": "OUTLIER", "0": "UNSURE"}

# Reason of a refusal -> exception and sentence. Sentences name the values and what to do.
_REFUSALS: dict[str, tuple[type[StateError], str]] = {
    "SESSION_NOT_FOUND": (NotFound, "There is no session {session}."),
    "DATASET_NOT_FOUND": (NotFound, "There is no dataset {dataset}; upload it first."),
    "DATASET_IN_USE": (
        WrongState,
        "Dataset {dataset} is used by {sessions} session(s); delete these first.",
    ),
    "DATASET_INCOMPLETE": (Conflict, "Parts of the upload are gone; upload it again."),
    "REQUEST_ID_REUSED": (
        InvalidInput,
        "Request id {request_id} was used with another request; take a new one.",
    ),
    "ANSWER_ID_REUSED": (
        InvalidInput,
        "Answer id {answer_id} was used for another answer; take a new one.",
    ),
    "UNKNOWN_QUERY": (NotFound, "Session {session} has no query {query}."),
    "OBSERVATION_MISMATCH": (
        InvalidInput,
        "Query {query} asks about row {row}, not about {observation}.",
    ),
    "LEASE_LOST": (
        WrongState,
        "Lease {lease_id} on query {query} is not held (any more); take the query again.",
    ),
    "SESSION_NOT_ACTIVE": (
        WrongState,
        "Session {session} is {state} and takes no labels now.",
    ),
    "ALREADY_ANSWERED": (
        Conflict,
        "Row {row} is labelled {verdict} already; retract that label first to change it.",
    ),
    "TOO_MANY_CORRECTIONS": (
        TooLarge,
        "{labeler} has corrected, retracted or answered too late {most} times on row {row}: "
        "no more is taken there.",
    ),
    "NOT_LABELED": (WrongState, "Row {row} has no label of {labeler} to retract."),
    "LABELER_WITHDRAWN": (
        WrongState,
        "The votes of {labeler} in session {session} were withdrawn; reinstate the labeler first.",
    ),
    "UNKNOWN_LABELER": (NotFound, "Session {session} has no labeler {labeler}."),
    "ILLEGAL_TRANSITION": (
        WrongState,
        "Session {session} is {state}: it cannot {verb} now.",
    ),
    "BUDGET_SPENT": (
        WrongState,
        "All {budget} labels of the budget are spent ({labels} given); raise the budget first.",
    ),
    "BUDGET_TOO_SMALL": (
        InvalidInput,
        "Budget {budget} is below the {labels} labels there are already.",
    ),
    "BUDGET_TOO_LARGE": (
        InvalidInput,
        "Budget {budget} is above the {n} observations of the dataset.",
    ),
}


class _Words(dict[str, object]):
    """Values of a sentence; what is not known stays recognisable."""

    def __missing__(self, key: str) -> str:
        return f"({key})"


def _reply(text: bytes, context: dict[str, object]) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(text)
    reason = reply.pop("error", None)
    if reason is None:
        return reply
    if reason == "CLAIM_LOST":
        raise ClaimLost(str(context))
    kind, sentence = _REFUSALS[reason]
    values = context | reply
    if "verdict" in reply:
        values["verdict"] = _VERDICTS[str(reply["verdict"])]
    raise kind(reason, sentence.format_map(_Words(values)), **values)


def _keys(name: str, prefix: str) -> list[str]:
    """KEYS of one call, whose attempts all have the same: see ``scripts/lib/repeats.lua``."""
    route = prefix + "q:hi"
    return [route] if name in scripts.REPEATABLE else [route, keys.new_call(prefix)]


class Scripts:
    """Calls scripts synchronously."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._registered: dict[str, Any] = {}

    def __call__(
        self, name: str, prefix: str, *args: Argument, **context: object
    ) -> dict[str, Any]:
        """Run a script. Raises its refusal as a StateError, a Redis fault as StoreUnavailable."""
        script = self._registered.get(name)
        if script is None:
            script = self._registered[name] = self._client.register_script(scripts.source(name))
        with redis_faults():
            text = script(keys=_keys(name, prefix), args=[prefix, *args])
        return _reply(text, context)


class AsyncScripts:
    """Calls scripts asynchronously."""

    def __init__(self, client: AsyncRedis) -> None:
        self._client = client
        self._registered: dict[str, Any] = {}

    async def __call__(
        self, name: str, prefix: str, *args: Argument, **context: object
    ) -> dict[str, Any]:
        """Run a script. Raises its refusal as a StateError, a Redis fault as StoreUnavailable."""
        script = self._registered.get(name)
        if script is None:
            script = self._registered[name] = self._client.register_script(scripts.source(name))
        async with store_call():
            text = await script(keys=_keys(name, prefix), args=[prefix, *args])
        return _reply(text, context)
