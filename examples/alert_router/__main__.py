"""Runs the router: ``python -m alert_router --help``."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx
import uvicorn

from alert_router.app import create_app
from alert_router.chat import Chat
from alert_router.ledger import Ledger
from alert_router.links import Links
from alert_router.router import Router
from svddtune import SvddtuneError
from svddtune.client.aio import AsyncTuningClient

_SECRET = "ALERT_ROUTER_SECRET"
_SHORTEST_SECRET = 16


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("alert_router", description=__doc__)
    parser.add_argument("--server", default="127.0.0.1:50051", help="address of the service")
    parser.add_argument("--session", action="append", default=[], help="default: any; repeatable")
    parser.add_argument("--analyst", action="append", required=True, help="repeatable")
    parser.add_argument("--chat", required=True, help="address of the chat")
    parser.add_argument("--listen", default="127.0.0.1:8080", help="HOST:PORT for the clicks")
    parser.add_argument("--public-url", help="what links begin with; default http://LISTEN")
    parser.add_argument("--state", type=Path, default=Path("alert_router.json"), help="file")
    parser.add_argument("--labeler", default="alert-router", help="name to label as")
    parser.add_argument("--patience", type=float, default=5.0, help="seconds a click may wait")
    options = parser.parse_args(arguments)
    host, colon, port = options.listen.rpartition(":")
    if not colon or not port.isdigit():
        parser.error(f"--listen {options.listen}: use HOST:PORT")
    options.host, options.port = host, int(port)
    options.secret = os.environ.get(_SECRET, "")
    if len(options.secret) < _SHORTEST_SECRET:
        parser.error(f"set {_SECRET} to a secret of {_SHORTEST_SECRET} characters or more")
    return options


async def _serve(options: argparse.Namespace) -> None:
    """Route queries until the session asks no more, or until told to stop."""
    ledger = Ledger(options.state)
    links = Links(options.public_url or f"http://{options.listen}", options.secret)
    async with (
        httpx.AsyncClient(timeout=10) as http,
        AsyncTuningClient(options.server) as client,
        # One query per analyst. Leases are not extended, so a query that nobody answers in time
        # goes to other labelers.
        client.tuning(
            [name if "/" in name else f"sessions/{name}" for name in options.session],
            labeler=options.labeler,
            kind="human",
            credit=len(options.analyst),
            extend=False,
            resume_token=ledger.resume_token,
        ) as tuning,
    ):
        router = Router(
            tuning,
            Chat(http, options.chat),
            links,
            ledger,
            options.analyst,
            patience_s=options.patience,
        )
        config = uvicorn.Config(
            create_app(router, links), host=options.host, port=options.port, log_level="warning"
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        routing = asyncio.create_task(router.run())
        # Late clicks get a page even after the last query.
        routing.add_done_callback(lambda done: _stop_if_failed(done, server))
        try:
            await serving
        finally:
            routing.cancel()
            (ended,) = await asyncio.gather(routing, return_exceptions=True)
            # Their messages can still be clicked, so the next run continues with them.
            await tuning.close(keep_leases=True)
        if isinstance(ended, Exception):
            raise ended


def _stop_if_failed(routing: asyncio.Task[None], server: uvicorn.Server) -> None:
    if not routing.cancelled() and routing.exception() is not None:
        server.should_exit = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the router; return the exit code."""
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # The web server handles signals, and raises them again once it and the router have stopped.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    try:
        asyncio.run(_serve(options))
    except* SvddtuneError as errors:
        failed = [str(error) for error in _causes(errors)]
    else:
        failed = []
    for text in failed:
        print(f"alert_router: {text}", file=sys.stderr)
    return 1 if failed else 0


def _causes(error: BaseException) -> list[BaseException]:
    """Return the exceptions of a group, nested ones included."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [cause for one in error.exceptions for cause in _causes(one)]


if __name__ == "__main__":
    sys.exit(main())
