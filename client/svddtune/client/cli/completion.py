"""Completion of sessions and datasets in the shell, from the service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from svddtune.client.cli.options import DEFAULT_SERVER
from svddtune.client.cli.service import reach_as
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.types import Dataset, Session

# A shell waits for it at each key.
_PATIENCE_S = 1.0
_MOST = 100

Proposals = list[tuple[str, str]]


def complete_session(ctx: typer.Context, incomplete: str) -> Proposals:
    """Return the sessions that a word may become, with what they are; none if nobody answers."""
    return _complete(
        ctx,
        incomplete,
        lambda client: client.list_sessions(),
        lambda session: f"{session.state.value} {session.counts.total}/{session.config.budget}",
    )


def complete_dataset(ctx: typer.Context, incomplete: str) -> Proposals:
    """Return the datasets that a word may become, with what they are; none if nobody answers."""
    return _complete(
        ctx,
        incomplete,
        lambda client: client.list_datasets(),
        lambda dataset: f"{dataset.observation_count} x {dataset.feature_count}",
    )


def _complete(
    ctx: typer.Context,
    incomplete: str,
    listed: Callable[[TuningClient], Iterable[Session | Dataset]],
    what: Callable[..., str],
) -> Proposals:
    # A completion has nobody to tell of an error.
    with suppress(Exception):
        from svddtune.client.client import TuningClient

        program = ctx.find_root().params
        reach_as({name: program.get(name) for name in ("token_file", "client_cert", "client_key")})
        server = ctx.params.get("server") or DEFAULT_SERVER
        tls_ca: Path | None = ctx.params.get("tls_ca")
        with TuningClient(server, tls_ca=tls_ca, timeout_s=_PATIENCE_S) as client:
            items = [
                (item, what(item))
                for item in islice(listed(client), _MOST)  # newest first
            ]
            return list(_proposals(items, incomplete))
    return []


def _proposals(
    items: Sequence[tuple[Session | Dataset, str]], incomplete: str
) -> Iterator[tuple[str, str]]:
    named = Counter(item.display_name for item, _ in items)
    for item, what in items:
        collection, _, id_ = item.name.partition("/")
        told = f"{visible(item.display_name)} {what}".strip()
        if incomplete.startswith(f"{collection}/"):
            id_ = item.name
        if id_.startswith(incomplete):
            yield id_, told
            continue
        name = item.display_name
        if name.startswith(incomplete) and name.isidentifier() and named[name] == 1:
            yield name, what
