"""``svddtune up``, ``serve`` and ``worker``: run the processes."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from svddtune.client.cli.failure import fail
from svddtune.client.cli.options import DEFAULT_SERVER, Json
from svddtune.client.cli.service import Service
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, say

_Redis = Annotated[
    str | None,
    typer.Option(
        "--redis",
        envvar="SVDDTUNE_REDIS",
        metavar="URL",
        help="URL of the Redis server: redis://, rediss:// or unix://.",
    ),
]


_HTTP = "127.0.0.1:50080"
_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def up(
    listen: Annotated[str, typer.Option(metavar="HOST:PORT")] = DEFAULT_SERVER,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help=f'Address of JSON over HTTP; "" for none. Default {_HTTP}, or a free port if '
            "--listen is given.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = 2,
    redis: _Redis = None,
    data_dir: Annotated[Path, typer.Option(help="Folder that keeps the sessions.")] = Path(
        "svddtune-data"
    ),
    show: Annotated[
        bool, typer.Option("--open", help="Open the console in the browser of this machine.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run service, workers and, without --redis, a Redis server on this machine until Ctrl-C."""
    from svddtune.client.errors import Unavailable, UsageError
    from svddtune.client.runs.embedded import EmbeddedStack

    if show and http == "":
        raise UsageError('--open shows the console, which --http "" leaves out: drop one of them')
    interrupt_on_sigterm()
    if http is None:
        http = _HTTP if listen == DEFAULT_SERVER else "127.0.0.1:0"
    stack = EmbeddedStack(workers, data_dir, listen=listen, http_listen=http, redis=redis)
    try:
        with stack:
            if as_json:
                print_json(dict(stack.info))
                sys.stdout.flush()
            else:
                _tell_ready(stack.address, stack.info.get("http"), workers, data_dir)
            if show:
                open_console(f"{stack.info['http']}/")
            code = stack.wait()
        ended = f"The service stopped unexpectedly with exit code {code}; see {stack.log_path}"
        if as_json:  # stdout holds one document only
            raise typer.Exit(fail(ended, "STACK_ENDED"))
        raise Unavailable(ended, reason="STACK_ENDED")
    except KeyboardInterrupt:
        say("Stopped.")


def serve(
    listen: Annotated[str, typer.Option(metavar="HOST:PORT")] = DEFAULT_SERVER,
    http: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address of JSON over HTTP; default none.")
    ] = "",
    redis: _Redis = None,
    tls_cert: Annotated[
        Path | None, typer.Option(exists=True, help="PEM file with the certificate chain.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(exists=True, help="PEM file with the private key.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow addresses other than loopback without TLS.")
    ] = False,
) -> None:
    """Run one service process in the foreground."""
    arguments = ["--listen", listen]
    arguments += ["--http-listen", http] if http else []
    _hand_over(redis)
    arguments += ["--tls-cert", str(tls_cert)] if tls_cert else []
    arguments += ["--tls-key", str(tls_key)] if tls_key else []
    arguments += ["--insecure"] if insecure else []
    _become("svddtune.service", arguments)


def worker(
    redis: _Redis = None,
    hi_only: Annotated[
        bool, typer.Option("--hi-only", help="Take only jobs that a labeler is waiting for.")
    ] = False,
) -> None:
    """Run one worker process in the foreground."""
    _hand_over(redis)
    arguments = ["--hi-only"] if hi_only else []
    _become("svddtune.worker", arguments)


def _tell_ready(address: str, http: str | None, workers: int, data_dir: Path) -> None:
    service = Service(address)
    print(f"svddtune listens on {address} with {many(workers, 'worker')}; data are in {data_dir}")
    if http:
        print(f"Console for a browser: {http}/ (calls as JSON over HTTP: {http}/openapi.json)")
    print("In another terminal, try:")
    print(f"  svddtune tune DATA.csv --label-column NAME --server {address}")
    print(f"  {service.command('dataset', 'add', 'DATA.csv')}")
    print(f"  {service.command('session', 'list')}")
    print("Ctrl-C stops everything.", flush=True)


def _hand_over(redis: str | None) -> None:
    """Pass the URL in the environment: all users of the machine can list arguments."""
    if redis:
        os.environ["SVDDTUNE_REDIS"] = redis


def _become(module: str, arguments: list[str]) -> None:
    """Replace this process by the module's, so that signals reach it directly."""
    from svddtune.client.extras import check_complete

    check_complete()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", module, *arguments])


def open_console(url: str) -> None:
    """Show a page of the console in the browser of this machine; say so where there is none."""
    import subprocess

    # A process of its own: what it starts is not our child, so none is left as a zombie.
    opened = subprocess.run([sys.executable, "-c", _OPEN, url], check=False)
    if opened.returncode:
        say(f"No browser can be opened here. The console is at {url}")


def interrupt_on_sigterm() -> None:
    """Let SIGTERM end this process as Ctrl-C does, so that what it has started ends first."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
