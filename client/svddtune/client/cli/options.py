"""Options that several commands have, and how a command gets a group of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_SERVER = "127.0.0.1:50051"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Server = Annotated[
    str,
    typer.Option(
        "--server", envvar="SVDDTUNE_SERVER", metavar="HOST:PORT", help="Address of the service."
    ),
]

TlsCa = Annotated[
    Path | None,
    typer.Option(
        "--tls-ca",
        envvar="SVDDTUNE_TLS_CA",
        exists=True,
        dir_okay=False,
        help="File of certificates (PEM) to trust; turns on encryption (TLS).",
    ),
]


FromSession = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="SESSION",
        help="Start with the labels of a session of --server: its ID, the start of it, its name, "
        "or sessions/ID/results/N. Other data must have the same ids.",
    ),
]


def with_options(
    command: Callable[..., None],
    run: Callable[..., None],
    *,
    instead_of: str,
    options: Iterable[inspect.Parameter],
) -> Callable[..., None]:
    """Return `run` with the parameters of `command`, one of them replaced by options.

    Typer reads the options of a command from its signature, and calls it by names.
    """
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command, eval_str=True).parameters.values():
        parameters += options if one.name == instead_of else [one]
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run
