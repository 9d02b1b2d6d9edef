"""``python -m svddtune.stack``: run everything on this machine until a signal or the end of stdin.

Prints one JSON line on stdout: the addresses and versions of the stack, or ``{"error", "reason"}``.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from svddtune.process.logs import PlainFormatter
from svddtune.stack.embedded import StackError
from svddtune.stack.supervisor import StackSettings, Supervisor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stack and return the exit code: 0 stopped, 1 could not start, 2 usage error."""
    given = _parser().parse_args(arguments)
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    with contextlib.ExitStack() as stack:
        data_dir = given.data_dir
        if data_dir is None:
            data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="svddtune-")))
        settings = StackSettings(
            listen=given.listen,
            http_listen=given.http_listen,
            workers=given.workers,
            redis=given.redis,
            data_dir=data_dir,
            service_options=_service_options(given),
        )
        try:
            asyncio.run(_run(settings, stop_on_eof=given.stop_on_eof))
        except StackError as error:
            print(json.dumps({"error": error.message, "reason": error.reason}), flush=True)
            return 1
    return 0


async def _run(settings: StackSettings, *, stop_on_eof: bool) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    if stop_on_eof:
        await loop.connect_read_pipe(lambda: _UntilEof(stopping), sys.stdin)
    supervisor = Supervisor(settings)
    starting = asyncio.create_task(supervisor.start())
    asked = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({starting, asked}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            versions = {"svddtune": version("svddtune"), "python": platform.python_version()}
            print(json.dumps(starting.result() | {"versions": versions}), flush=True)
        await asked
    finally:
        starting.cancel()
        asked.cancel()
        await asyncio.gather(starting, asked, return_exceptions=True)
        await supervisor.stop()


class _UntilEof(asyncio.Protocol):
    """Reads a stream to its end and discards what it reads."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended

    def connection_lost(self, error: Exception | None) -> None:
        """Report the end of the stream."""
        self._ended.set()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m svddtune.stack",
        description="Redis-compatible server, service and workers on this machine.",
    )
    add = parser.add_argument
    add("--listen", default="127.0.0.1:0", metavar="HOST:PORT", help="default: %(default)s")
    add("--http-listen", default="", metavar="HOST:PORT", help="address of HTTP; default: none")
    add("--workers", type=_count, default=2, metavar="N", help="default: %(default)s")
    add(
        "--redis",
        metavar="URL",
        default=os.environ.get("SVDDTUNE_REDIS"),
        help="use this running server instead of starting one; a URL in SVDDTUNE_REDIS instead "
        "keeps its password out of the list of processes",
    )
    add(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="data directory of the server; default: a temporary one",
    )
    add("--stop-on-eof", action="store_true", help="stop when stdin is closed")
    add("--tls-cert", metavar="FILE", help="passed on to the service")
    add("--tls-key", metavar="FILE", help="passed on to the service")
    add("--insecure", action="store_true", help="passed on to the service")
    add("--log-format", choices=("json", "console"), help="passed on to the service")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 256:
        raise argparse.ArgumentTypeError("0 to 256")
    return number


def _service_options(given: argparse.Namespace) -> tuple[str, ...]:
    options: list[str] = ["--insecure"] if given.insecure else []
    for name in ("tls_cert", "tls_key", "log_format"):
        if value := getattr(given, name):
            options += [f"--{name.replace('_', '-')}", value]
    return tuple(options)


if __name__ == "__main__":
    sys.exit(main())
