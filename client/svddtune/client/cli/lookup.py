"""Finds the session or dataset that a word of the command line stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from svddtune.client.cli.service import Service
from svddtune.client.client import TuningClient
from svddtune.client.errors import InvalidInput, NotFound, UsageError
from svddtune.client.types import Dataset, Session
from svddtune.text import on_one_line

_Kind = TypeVar("_Kind", Session, Dataset)
_MANY = 5


def find_session(client: TuningClient, service: Service, wanted: str) -> Session:
    """Return a session by its name or id, the start of its id, or its display name.

    Raises
    ------
    NotFound
        SESSION_NOT_FOUND.
    UsageError
        SESSION_AMBIGUOUS where several match, and none of them exactly.
    """
    return _find(
        wanted,
        "session",
        client.get_session,
        client.list_sessions,
        service,
    )


def find_dataset(client: TuningClient, service: Service, wanted: str) -> Dataset:
    """Return a dataset by its name or id, the start of its id, or its display name.

    Raises
    ------
    NotFound
        DATASET_NOT_FOUND.
    UsageError
        DATASET_AMBIGUOUS where several match, and none of them exactly.
    """
    try:
        return _find(wanted, "dataset", client.get_dataset, client.list_datasets, service)
    except NotFound as error:
        if Path(wanted).is_file():
            add = service.command("dataset", "add", wanted)
            error.message += f". {wanted!r} is a file: store it with: {add}"
        raise


def find_source(wanted: str, server: str | None, tls_ca: Path | None) -> str:
    """Return the resource name of the session or result that ``--from`` stands for.

    Raises
    ------
    UsageError
        Without a server; else as `find_session`.
    """
    if server is None:
        raise UsageError(
            f"--from {wanted} names a session of a running service: give its --server",
            metadata={"option": "--from", "value": wanted},
        )
    service = Service(server, tls_ca)
    with service.connect() as client:
        return source_name(client, service, wanted)


def source_name(client: TuningClient, service: Service, wanted: str) -> str:
    """Return the resource name of a session, found as `find_session` does, or of a result."""
    if "/results/" in wanted:
        return wanted
    return find_session(client, service, wanted).name


def session_names(service: Service, wanted: Iterable[str]) -> list[str]:
    """Return the resource names of sessions, each found as `find_session` does.

    Names in full are taken as they are, without a call.
    """
    words = list(wanted)
    if all(word.startswith("sessions/") for word in words):
        return words
    with service.connect() as client:
        return [find_session(client, service, word).name for word in words]


def short(item: Session | Dataset) -> str:
    """Return the id of a session or dataset: its name without the collection."""
    return item.name.partition("/")[2]


def _find(
    wanted: str,
    kind: str,
    get: Callable[[str], _Kind],
    listed: Callable[[], Iterable[_Kind]],
    service: Service,
) -> _Kind:
    start = wanted.removeprefix(f"{kind}s/")
    # (What has the form of an id mostly is one, and takes no list.)
    if "-" in start or len(start) > 30:
        try:
            return get(f"{kind}s/{start}")
        except (InvalidInput, NotFound):
            pass
    found: list[_Kind] = []
    named = False
    for item in listed():
        id_ = short(item)
        if id_ == start:
            return item
        # (The ids of a service begin alike; what follows tells them apart.)
        if start and (id_.startswith(start) or id_.partition("-")[2].startswith(start)):
            found.append(item)
        elif item.display_name == wanted:
            found.append(item)
            named = True
    if named and len(found) > 1:
        # A display name in full outweighs the start of an id.
        by_name = [item for item in found if item.display_name == wanted]
        found = by_name if len(by_name) == 1 else found
    reason = kind.upper()
    if not found:
        raise NotFound(
            f"There is no {kind} {wanted!r} on {service.server}; list the {kind}s with: "
            f"{service.command(kind, 'list')}",
            reason=f"{reason}_NOT_FOUND",
            metadata={kind: wanted},
        )
    if len(found) > 1:
        raise UsageError(
            f"{wanted!r} matches {len(found)} {kind}s: {_some(found)}; give more of the id",
            reason=f"{reason}_AMBIGUOUS",
            metadata={kind: wanted},
        )
    return found[0]


def _some(items: list[_Kind]) -> str:
    names = [
        short(item) + (f" ({on_one_line(item.display_name)})" if item.display_name else "")
        for item in items[:_MANY]
    ]
    return ", ".join(names) + (", ..." if len(items) > _MANY else "")
