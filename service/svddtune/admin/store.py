"""The connection of a command to the store, with errors as the program reports them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from svddtune.client.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    SvddtuneError,
    Unavailable,
    UsageError,
    WrongState,
)
from svddtune.state import errors
from svddtune.state.connect import Redis, connect
from svddtune.text import url_fault

DEFAULT_REDIS = "redis://127.0.0.1:6379/0"

RedisUrl = Annotated[
    str,
    typer.Option(
        "--redis",
        envvar="SVDDTUNE_REDIS",
        metavar="URL",
        help="URL of the Redis server: redis://, rediss:// or unix://.",
    ),
]
Partitions = Annotated[
    int,
    typer.Option(
        envvar="SVDDTUNE_PARTITIONS", min=1, max=1024, help="Partitions of the deployment."
    ),
]

_KINDS: tuple[tuple[type[errors.StateError], type[SvddtuneError]], ...] = (
    (errors.StoreUnavailable, Unavailable),
    (errors.NotFound, NotFound),
    (errors.WrongState, WrongState),
    (errors.Conflict, Conflict),
    (errors.InvalidInput, InvalidInput),
)


@contextmanager
def store(url: str) -> Iterator[Redis]:
    """Connect to the store for the body.

    Raises UsageError for a URL that cannot be one, and what the body raises of StateError as the
    client's exceptions, with the same reasons.
    """
    with reported():
        try:
            client = connect(url, patience_s=0)
        except ValueError as error:
            raise UsageError(f"--redis is {url_fault(url, error)}.") from error
        with client:
            yield client


@contextmanager
def reported() -> Iterator[None]:
    """Raise what the body raises of StateError as the client's exceptions."""
    try:
        yield
    except errors.StateError as error:
        kind = next((ours for theirs, ours in _KINDS if isinstance(error, theirs)), SvddtuneError)
        raise kind(error.message, reason=error.reason, metadata=error.metadata) from error
