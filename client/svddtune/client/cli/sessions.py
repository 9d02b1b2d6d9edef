"""``svddtune sessions``, ``watch``, ``finish`` and ``export``: commands on sessions."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from svddtune.client.cli.failure import EXIT_FAILED
from svddtune.client.cli.options import DEFAULT_SERVER, Json, Server, TlsCa
from svddtune.client.terminal.output import (
    compared,
    evidence,
    figure,
    gamma_of,
    print_json,
    say,
    stderr,
    stdout,
    tell,
)
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.types import Session

# Seconds without a change after which the command looks up what the session lacks.
_STILL_S = 5.0


class ModelFormat(StrEnum):
    """Formats of a model file."""

    NPZ = "npz"
    ONNX = "onnx"


SessionName = Annotated[str, typer.Argument(metavar="SESSION", help="The ID, or sessions/ID.")]


def sessions(server: Server = DEFAULT_SERVER, tls_ca: TlsCa = None, as_json: Json = False) -> None:
    """List the sessions of a service, newest first."""
    from svddtune.client.client import TuningClient

    with TuningClient(server, tls_ca=tls_ca) as client:
        found = list(client.list_sessions())
    if as_json:
        print_json({"sessions": [session.to_dict() for session in found]})
        return
    if not found:
        say(f"No sessions on {server}.")
        return
    from rich.table import Table

    table = Table(box=None)
    for name in ("session", "name", "state", "labels", "inlier", "outlier", "gamma", "created"):
        table.add_column(name, overflow="fold")
    for item in found:
        created = item.create_time.strftime("%Y-%m-%d %H:%M") if item.create_time else "-"
        table.add_row(
            item.name.removeprefix("sessions/"),
            visible(item.display_name),
            item.state.value,
            f"{item.counts.total}/{item.config.budget}",
            str(item.counts.inlier),
            str(item.counts.outlier),
            gamma_of(item.gamma or None, item.scaling),
            created,
        )
    stdout().print(table)


def watch(
    session: SessionName,
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
    as_json: Json = False,
) -> None:
    """Follow a session until it ends; exit with 1 if it ends without a result."""
    from rich.text import Text

    from svddtune.client.client import TuningClient

    last: Session | None = None
    console = stderr()
    with (
        TuningClient(server, tls_ca=tls_ca) as client,
        console.status("", spinner="dots") as status,
    ):
        before = ""
        for last, lacks in _followed(client, resource_name(session)):
            line = _line(last) + (f"  {lacks}" if lacks else "")
            if console.is_terminal:
                status.update(Text(line))
            elif line != before:
                say(line)
            before = line
    if last is None:
        raise typer.Exit(EXIT_FAILED)
    if as_json:
        print_json(last.to_dict())
    else:
        tell(_line(last))
    if last.state.value != "completed":
        if last.failure_message:
            say(f"svddtune: {visible(last.failure_message)} [{last.failure_reason}]")
        raise typer.Exit(EXIT_FAILED)


def _followed(client: TuningClient, name: str) -> Iterator[tuple[Session, str]]:
    """Yield the session after each change until it ends, and what it lacks when nothing changes."""
    from svddtune.client.errors import Unavailable
    from svddtune.client.runs.waiting import reason

    while True:
        try:
            for update in client.watch(name, timeout_s=_STILL_S):
                yield update.session, ""
            return
        except Unavailable as error:
            if error.reason != "WAIT_TIMEOUT":
                raise
        session = client.get_session(name)
        yield session, reason(session, "", client.address)


def finish(
    session: SessionName,
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
    as_json: Json = False,
) -> None:
    """Stop asking in a session, and compute its result from the labels so far."""
    from svddtune.client.client import TuningClient

    with TuningClient(server, tls_ca=tls_ca) as client:
        found = client.finish_session(resource_name(session))
    if as_json:
        print_json(found.to_dict())
        return
    name = found.name.removeprefix("sessions/")
    say(
        f"Session {name} asks no more. Once its result is computed, export the model with: "
        f"svddtune export {name}"
    )


def export(
    session: SessionName,
    out: Annotated[
        Path | None, typer.Option(help="Model file to write. Default: SESSION.npz or .onnx.")
    ] = None,
    format_: Annotated[
        ModelFormat,
        typer.Option(
            "--format", help="npz: arrays, for svddtune. onnx: a graph, for any ONNX runtime."
        ),
    ] = ModelFormat.NPZ,
    which: Annotated[
        Literal["svdd", "refined"],
        typer.Option(help="The detector of an ONNX file; an .npz file holds both."),
    ] = "svdd",
    server: Server = DEFAULT_SERVER,
    tls_ca: TlsCa = None,
    as_json: Json = False,
) -> None:
    """Write a session's model file, and show how to use it in Python."""
    from svddtune.client.client import TuningClient

    name = resource_name(session)
    with TuningClient(server, tls_ca=tls_ca) as client:
        model = client.model(name)
        result = client.result(name)
    path = out or Path(f"{name.removeprefix('sessions/')}.{format_.value}")
    if format_ is ModelFormat.ONNX:
        model.save_onnx(path, which=which)
    else:
        model.save(path)
    if as_json:
        print_json({"file": str(path), "format": format_.value, "result": result.to_dict()})
        return
    tell(usage_snippet(str(path), format_))
    say(f"Wrote {path}")


def usage_snippet(path: str, format_: ModelFormat) -> str:
    """Return Python that uses a model file."""
    lines = {
        ModelFormat.NPZ: (
            "from svddtune import SvddModel",
            f"model = SvddModel.load({path!r})",
            "labels = model.predict(X)   # +1 inlier, -1 outlier; needs numpy only",
            "pipeline = model.to_sklearn()   # a fitted scikit-learn Pipeline; decides alike",
        ),
        ModelFormat.ONNX: (
            "import onnxruntime",
            f"session = onnxruntime.InferenceSession({path!r})",
            "# X holds doubles, shape (n, M). Labels are +1 (inlier) and -1 (outlier).",
            'labels, scores = session.run(["label", "score"], {"X": X})',
        ),
    }
    return "\n".join(lines[format_])


def resource_name(session: str) -> str:
    """Return the resource name of a session given by its resource name or id."""
    return session if session.startswith("sessions/") else f"sessions/{session}"


def _line(session: Session) -> str:
    from svddtune.client.types import SessionState

    counts = session.counts
    text = (
        f"{session.name}  {session.state.value}  {counts.total}/{session.config.budget} labels "
        f"({counts.inlier} inlier, {counts.outlier} outlier)"
    )
    if session.awaiting_votes:
        text += f"  {session.awaiting_votes} waiting for votes"
    if session.live:
        text += f"  {evidence(session.live)}  {visible(session.live.advice)}"
        if session.detectors:
            text += f"  {compared(session.detectors)}"
    elif session.state is SessionState.PREPARING:
        text += f"  atlas {session.atlas_progress:.0%}"
    elif session.gamma:
        text += f"  gamma {gamma_of(session.gamma, session.scaling)}"
        text += f"  alignment {figure(session.alignment, 3)}"
    return text
