"""The command ``svddtune doctor``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from svddtune.admin.doctor.files import check_certificate, check_private
from svddtune.admin.doctor.findings import Finding, Severity
from svddtune.admin.doctor.queues import check_queues
from svddtune.admin.doctor.reach import check_service
from svddtune.admin.doctor.sessions import check_sessions
from svddtune.admin.doctor.store import check_layout, check_store, reachable
from svddtune.admin.doctor.usage import check_usage
from svddtune.admin.store import DEFAULT_REDIS, Partitions, RedisUrl, store
from svddtune.admin.tables import table
from svddtune.client.cli.options import Json, TlsCa
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, tell
from svddtune.state import inspection
from svddtune.state.connect import Redis
from svddtune.text import redacted

app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def doctor(
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    server: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Also look whether this service serves.")
    ] = "",
    tls_ca: TlsCa = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(envvar="SVDDTUNE_TLS_CERT", help="Also check this certificate of a service."),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(envvar="SVDDTUNE_TLS_KEY", help="Its private key.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Name that clients reach the service by; default: of --server.",
        ),
    ] = "",
    tokens: Annotated[
        Path | None,
        typer.Option(envvar="SVDDTUNE_TOKENS", help="Also check this file of tokens."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Look for what is wrong with a deployment, and say what to do; nothing is changed.

    Exit code: 0 all is well, 1 there are warnings, 2 there are errors.
    """
    with store(redis) as client:
        found = list(_of_store(client, partitions))
    if tls_cert:
        found += check_certificate(tls_cert, tls_key, host or _host_of(server))
    if tokens:
        found += check_private(tokens, "token file")
    if server:
        found += check_service(server, tls_ca)
    worst = max((one.severity for one in found), key=lambda one: one.value)
    if as_json:
        print_json({"severity": worst.name, "findings": [_to_dict(one) for one in found]})
    else:
        _show(found)
    raise typer.Exit(worst.value)


def _of_store(client: Redis, partitions: int) -> Iterator[Finding]:
    answer, servers = reachable(client)
    yield answer
    if not servers:
        return
    yield from check_store(servers)
    yield from check_layout(client, partitions)
    yield from check_queues(
        inspection.workers(client, partitions),
        inspection.jobs(client, partitions),
        inspection.now_ms(client),
    )
    yield check_sessions(client, partitions)
    yield check_usage(client, partitions)


def _host_of(server: str) -> str:
    return "" if server.startswith("unix:") else server.rpartition(":")[0].strip("[]")


def _to_dict(one: Finding) -> dict[str, str]:
    return {
        "check": one.check,
        "severity": one.severity.name,
        "value": redacted(one.value),
        "advice": one.advice,
    }


def _show(found: list[Finding]) -> None:
    table(("", "check", "found"), (_row(one) for one in found))
    counts = {kind: sum(one.severity is kind for one in found) for kind in Severity}
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    tell(
        "All is well."
        if counts[Severity.OK] == len(found)
        else f"{many(errors, 'error')}, {many(warnings, 'warning')}."
    )


def _row(one: Finding) -> tuple[str, str, str]:
    text = redacted(one.value) + (f". {one.advice}" if one.advice else "")
    return one.severity.name.lower(), one.check, text
