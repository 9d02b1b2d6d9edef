"""``svddtune webhook``: sends the events of sessions to other systems."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.cli.completion import complete_session
from svddtune.client.cli.options import DEFAULT_SERVER, Server, TlsCa
from svddtune.client.cli.service import Service

if TYPE_CHECKING:
    from svddtune.client.webhooks.sender import Delivery

webhook = typer.Typer(
    help="Send the events of sessions to other systems, and receive alerts and verdicts.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@webhook.callback()
def _webhook() -> None:
    """Send the events of sessions to other systems, and receive alerts and verdicts."""


@webhook.command()
def send(
    url: Annotated[str, typer.Option(metavar="URL", help="Where events are posted.")],
    secret_file: Annotated[
        Path,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="File with the key of the signatures (whsec_BASE64); one more line per further "
            "key.",
        ),
    ],
    state: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Keeps what is announced and not delivered yet."),
    ],
    session: Annotated[
        list[str] | None,
        typer.Option(
            "--session",
            metavar="SESSION",
            help="Id, start of the id, or name of the session; repeatable. Default: all.",
            autocompletion=complete_session,
        ),
    ] = None,
    attempts: Annotated[
        int, typer.Option(min=1, help="Attempts for a message that the receiver refuses.")
    ] = 5,
    retry_first: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="First delay between attempts.")
    ] = 1.0,
    retry_most: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="Longest delay between attempts.")
    ] = 300.0,
    waiting: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How long a session waits for labelers before that is announced.",
        ),
    ] = 10.0,
    interval: Annotated[
        float,
        typer.Option(
            min=0.01,
            metavar="SECONDS",
            help="Time between two looks for sessions that are new or go on.",
        ),
    ] = 5.0,
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
) -> None:
    """Post the events of sessions to URL until Ctrl-C: signed, in order, each at least once."""
    from svddtune.client.cli.lookup import session_names
    from svddtune.client.errors import UsageError
    from svddtune.client.extras import needs_extra

    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url {url!r} does not begin with http:// or https://")
    with needs_extra("webhooks", "Sending webhooks"):
        from svddtune.client.webhooks.sender import Delivery
    from svddtune.client.webhooks.signature import read_secrets

    _log_to_stderr()
    delivery = Delivery(
        url,
        read_secrets(secret_file),
        attempts=attempts,
        first_s=retry_first,
        most_s=retry_most,
        waiting_s=waiting,
        interval_s=interval,
    )
    names = session_names(Service(server, tls_ca), session or ())
    asyncio.run(_send(delivery, state, names, server, tls_ca))


async def _send(
    delivery: Delivery, folder: Path, names: list[str], server: str, tls_ca: Path | None
) -> None:
    import httpx

    from svddtune.client.aio import AsyncTuningClient
    from svddtune.client.errors import SvddtuneError
    from svddtune.client.webhooks.sender import Sender

    async def sending() -> None:
        async with AsyncTuningClient(server, tls_ca=tls_ca) as client, httpx.AsyncClient() as http:
            try:
                await Sender(client, http, delivery, folder, names).run()
            except* SvddtuneError as errors:
                raise _first(errors) from None

    task = asyncio.create_task(sending())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _log_to_stderr() -> None:
    import logging
    import sys

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)


_Features = Annotated[
    Path | None,
    typer.Option(
        exists=True, dir_okay=False, help="TOML file that says which features an alert gets."
    ),
]


@webhook.command()
def receive(
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keeps the alerts that came.")
    ] = None,
    features: _Features = None,
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="SESSION",
            help="Session that verdicts label: id, start of the id, or name.",
            autocompletion=complete_session,
        ),
    ] = "",
    mapping: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="Meaning of verdicts: a name that `svddtune oracle mappings` lists, or a .toml "
            "file.",
        ),
    ] = "",
    labeler: Annotated[str, typer.Option(help="Name of the labeler of the verdicts.")] = "webhook",
    record_id: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Where an object posted to /records has its id, e.g. event.id."
        ),
    ] = "",
    record_time: Annotated[
        str,
        typer.Option(metavar="PATH", help="Where it has its time (RFC 3339), e.g. event.time."),
    ] = "",
    listen: Annotated[str, typer.Option(metavar="HOST:PORT")] = "127.0.0.1:8080",
    secret_file: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="File with a bearer token, or key of signatures."
        ),
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Limit of a body.")] = 4_000_000,
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
) -> None:
    """Receive alerts (--folder and --features) and verdicts (--session and --mapping)."""
    from svddtune.client.cli.lookup import session_names
    from svddtune.client.errors import UsageError
    from svddtune.client.extras import needs_extra

    if (folder is None) != (features is None) or bool(session) != bool(mapping):
        raise UsageError("--folder needs --features, and --session needs --mapping")
    if folder is None and not session:
        raise UsageError("Give --folder and --features, --session and --mapping, or all four")
    if bool(record_id) != bool(record_time) or (record_id and folder is None):
        raise UsageError("--record-id needs --record-time and --folder, and the other way round")
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f"--listen {listen!r}: use HOST:PORT")
    secret = secret_file.read_text(encoding="utf-8").strip() if secret_file else ""
    if secret_file and not secret:
        raise UsageError(f"--secret-file {secret_file} is empty")
    with needs_extra("webhooks", "Receiving webhooks"):
        import uvicorn

        from svddtune.client.webhooks.receiver import create_app
    from svddtune.client.aio import AsyncTuningClient
    from svddtune.client.alertmanager import load_features
    from svddtune.client.tickets.mapping_file import load_mapping
    from svddtune.client.webhooks.collection import Collection, RecordPaths
    from svddtune.client.webhooks.verdicts import Verdicts

    collection = Collection(folder, load_features(features)) if folder and features else None
    meaning = load_mapping(mapping) if mapping else None
    (name,) = session_names(Service(server, tls_ca), [session]) if session else ("",)

    async def serve() -> None:
        async with AsyncTuningClient(server, tls_ca=tls_ca) as client:
            verdicts = Verdicts(client, name, meaning, labeler) if meaning else None
            app = create_app(
                collection,
                verdicts,
                records=RecordPaths(record_id, record_time) if record_id else None,
                secret=secret,
                most_bytes=max_bytes,
            )
            config = uvicorn.Config(app, host=host.strip("[]"), port=int(port), log_level="warning")
            await uvicorn.Server(config).serve()

    asyncio.run(serve())


@webhook.command()
def dataset(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, metavar="FOLDER")],
    features: Annotated[
        Path,
        typer.Option(
            exists=True, dir_okay=False, help="TOML file that says which features an alert gets."
        ),
    ],
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
) -> None:
    """Upload the alerts that came so far as a dataset, and print its name."""
    from svddtune.client.alertmanager import load_features, read_alerts, read_payloads
    from svddtune.client.alertmanager.observations import from_alerts
    from svddtune.client.client import TuningClient

    path = folder / "payloads.jsonl"
    alerts = read_alerts(read_payloads(path)) if path.exists() else []
    found = from_alerts(alerts, load_features(features))
    with TuningClient(server, tls_ca=tls_ca) as client:
        stored = client.upload_dataset(
            found.X,
            observation_ids=found.ids,
            feature_names=found.feature_names,
            display=found.display,
        )
    print(stored.name)
