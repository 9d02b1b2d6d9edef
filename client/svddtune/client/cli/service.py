"""The service of a command: the options that lead to it, and commands to suggest to the user."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svddtune.client.cli.options import DEFAULT_SERVER, Server, TlsCa, with_options

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient

# Options of the program that say who calls; a suggested command needs them too.
_CALLER: ContextVar[tuple[str, ...]] = ContextVar("_CALLER", default=())
_VARIABLES = ("SVDDTUNE_TOKEN_FILE", "SVDDTUNE_CLIENT_CERT", "SVDDTUNE_CLIENT_KEY")


@dataclass(frozen=True, slots=True)
class Service:
    """A service as a command line names it."""

    server: str
    tls_ca: Path | None = None

    def connect(self, *, timeout_s: float = 30.0) -> TuningClient:
        """Return a client, to be used as a context manager."""
        from svddtune.client.client import TuningClient

        return TuningClient(self.server, tls_ca=self.tls_ca, timeout_s=timeout_s)

    def command(self, *words: str) -> str:
        """Return a command line of this program that reaches the same service when it is pasted.

        What the environment says already, or is the default, is left out.
        """
        line = ["svddtune", *_CALLER.get(), *words]
        if self.server != os.environ.get("SVDDTUNE_SERVER", DEFAULT_SERVER):
            line += ["--server", self.server]
        if self.tls_ca is not None and str(self.tls_ca) != os.environ.get("SVDDTUNE_TLS_CA"):
            line += ["--tls-ca", str(self.tls_ca)]
        return shlex.join(line)


@contextmanager
def own_caller() -> Iterator[None]:
    """Undo at the end of a command line what its `reach_as` did."""
    before = {name: os.environ.get(name) for name in _VARIABLES}
    caller = _CALLER.get()
    try:
        yield
    finally:
        _CALLER.set(caller)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def reach_as(files: Mapping[str, Path | None]) -> None:
    """Let what this process connects to know who calls: options of the program, by parameter."""
    options: list[str] = []
    for name, file in files.items():
        variable = f"SVDDTUNE_{name.upper()}"
        if file is not None and str(file) != os.environ.get(variable):
            options += [f"--{name.replace('_', '-')}", str(file)]
            os.environ[variable] = str(file)
    _CALLER.set(tuple(options))


def on_service(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --server and --tls-ca instead of its parameter `service`."""
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, default, kind in (("server", DEFAULT_SERVER, Server), ("tls_ca", None, TlsCa))
    ]

    @functools.wraps(command)
    def run(*, server: str, tls_ca: Path | None, **given: Any) -> None:
        command(service=Service(server, tls_ca), **given)

    return with_options(command, run, instead_of="service", options=options)
