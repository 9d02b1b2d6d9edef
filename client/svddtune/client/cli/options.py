"""Options that several commands have."""

from __future__ import annotations

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
