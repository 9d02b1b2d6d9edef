"""``python -m svddtune.service``: read settings, check Redis, then serve until a signal."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from typing import Any

from svddtune.process import traces
from svddtune.process.logs import set_up_logging
from svddtune.process.settings import SettingsError, read_settings
from svddtune.service.access.providers import IdentitiesError
from svddtune.service.server import AddressError, Server
from svddtune.service.settings import Settings
from svddtune.state.connect import Redis, connect
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import ServerReport, examine
from svddtune.text import url_fault

log = logging.getLogger("svddtune.service")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve. Returns the exit code: 0 stopped by a signal, 1 could not serve, 2 wrong settings."""
    try:
        settings = read_settings(
            Settings,
            sys.argv[1:] if arguments is None else arguments,
            program="python -m svddtune.service",
        )
        redis = _connect(settings)
        traces.begin(settings.otlp_endpoint, "svddtune-service")
    except (SettingsError, traces.TracesUnavailable) as error:
        print(error, file=sys.stderr)
        return 2
    set_up_logging(settings.log_format, settings.log_level)
    try:
        with redis as client:
            report = examine(client, min_replicas=settings.min_replicas)
        _warn(settings, report)
        asyncio.run(_serve(settings, report))
    except StoreUnavailable as error:
        print(f"{error.reason}: {error.message}", file=sys.stderr)
        return 1
    except IdentitiesError as error:
        print(f"IDENTITIES_UNUSABLE: {error}", file=sys.stderr)
        return 1
    except AddressError as error:
        print(f"ADDRESS_UNUSABLE: {error}", file=sys.stderr)
        return 1
    finally:
        traces.end()
    return 0


def _connect(settings: Settings) -> Redis:
    try:
        return connect(settings.redis, patience_s=0)
    except ValueError as error:
        raise SettingsError(f"--redis is {url_fault(settings.redis, error)}.") from error


async def _serve(settings: Settings, report: ServerReport) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    server = Server(settings)
    addresses = await server.start()
    await _first_of(server.wait_until_serving(), stopping.wait())
    found = f"{report.kind} {report.version}"
    ready = {**addresses, "server": found, "survives": _survives(report)}
    log.info("serving", extra=ready)
    print(json.dumps(ready | {"pid": os.getpid()}), flush=True)
    await stopping.wait()
    log.info("stopping")
    await server.stop()
    log.info("stopped")


async def _first_of(*works: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    _, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def _survives(report: ServerReport) -> dict[str, bool]:
    """After which faults of the store an acknowledged label is there."""
    durability = report.durability
    return {"crash": durability.survives_crash, "failover": durability.survives_failover}


def _warn(settings: Settings, report: ServerReport) -> None:
    for warning in report.durability.warnings:
        log.warning("redis: %s", warning)
    log.info(
        "acknowledged labels survive",
        extra=_survives(report) | {"words": "; ".join(report.durability.sentences)},
    )
    if settings.exposed:
        log.warning(
            "INSECURE: other machines reach %s without %s",
            ", ".join(settings.exposed),
            " and ".join(settings.unprotected),
        )


if __name__ == "__main__":
    sys.exit(main())
