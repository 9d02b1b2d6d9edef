"""One run of ``svddtune tune`` or ``resume``: signals, progress, files and report."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any

from svddtune.client.cli.failure import EXIT_INTERRUPTED, EXIT_TERMINATED, fail
from svddtune.client.cli.progress import ProgressBar
from svddtune.client.errors import SvddtuneError, UsageError
from svddtune.client.runs.interrupted import Interruption, Stopped, interruption
from svddtune.client.runs.kept import strip
from svddtune.client.terminal.output import print_json, say

if TYPE_CHECKING:
    from svddtune.client.cli.service import Service
    from svddtune.client.result import TuningResult
    from svddtune.client.types import FloatArray

COMMAND_FILE = "command.json"
_STOPS = ("SIGTERM", "SIGHUP")
_BY_SIGNAL = 128


@dataclass(frozen=True, slots=True)
class SavedCommand:
    """The options of a command beside those of the run, kept with the run.

    `known` holds verdicts by observation id, None where a person is asked; `warnings` are about
    the columns of the data.
    """

    source: str
    known: dict[str, str] | None
    out: str | None
    warnings: list[dict[str, str]] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        """Save it in the run's folder."""
        (folder / COMMAND_FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> SavedCommand | None:
        """Return the saved command; None for a run that was not started by a command."""
        try:
            return cls(**json.loads((folder / COMMAND_FILE).read_text()))
        except FileNotFoundError:
            return None


def run_and_report(
    command: SavedCommand,
    call: Callable[..., TuningResult],
    *,
    oracle: Any,
    X: FloatArray,
    ids: Sequence[str],
    folder: Path | None,
    as_json: bool,
    next_commands: Mapping[str, str] = MappingProxyType({}),
    service: Service | None = None,
) -> TuningResult:
    """Carry out a run by `call`; report its result and return it, or say how to resume it.

    Parameters
    ----------
    command : SavedCommand
        The command line that began the run.
    call : callable
        Takes `oracle` and `on_progress`.
    folder : path or None
        The run's own; without --out it keeps the model. None for a run at a server.
    oracle, X, ids : object, array (N, M), sequence of N str
        What is tuned, and who answers.
    as_json : bool
        Whether the result is printed as JSON.
    next_commands : mapping of str to str
        What to suggest to the user next, by purpose; default nothing.
    service : Service, optional
        Where the run takes place; default one of its own.
    """
    from svddtune.client.cli.run_report import Report
    from svddtune.client.files.data import full_truth
    from svddtune.client.types import Verdict

    out = Path(command.out) if command.out is not None else None
    if out is not None:
        check_out(out)
    human = command.known is None
    with (
        _told(as_json, folder, service),
        _suggesting(service),
        stopping(),
        ProgressBar(human=human) as progress,
    ):
        tuned = call(oracle=oracle, on_progress=progress)
    rows = {observation_id: row for row, observation_id in enumerate(ids)}
    known = {rows[key]: Verdict.of(value) for key, value in (command.known or {}).items()}
    dropped = 0 if human else len(oracle.dropped)
    report = Report(tuned, X, full_truth(known, len(ids)), dropped, command.warnings)
    place = out or folder
    if place is not None:
        try:
            report.write(place, picture=out is not None)
        except OSError:
            if folder is not None:
                say(f"The result is kept; get it again with: {resume_command(folder)}")
            raise
    if folder is not None:
        strip(folder)
        (folder / COMMAND_FILE).unlink(missing_ok=True)
        if out is not None:
            with contextlib.suppress(OSError):
                folder.rmdir()
    if as_json:
        print_json(report.document())
        return tuned
    session = tuned.session.name.removeprefix("sessions/")
    keep = {}
    if service is not None:
        keep[service.command("report", session)] = "a page about it"
        if place is None:
            keep[service.command("export", session)] = "to keep the model"
    report.show({**keep, **next_commands})
    return tuned


def resume_command(run: str | Path) -> str:
    """Return the command line that goes on with a run, named or in a folder."""
    return shlex.join(["svddtune", "resume", str(run)])


def check_out(out: Path) -> None:
    """Check, before labelling, that files can be written to a folder.

    Raises
    ------
    UsageError
        Where it is a file, or cannot be made or written.
    """
    try:
        made = [folder for folder in (out, *out.parents) if not folder.exists()]
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".svddtune-{os.getpid()}"
        probe.write_bytes(b"\0" * 4096)
        probe.unlink()
        for folder in made:
            folder.rmdir()
    except OSError as error:
        raise UsageError(
            f"--out {out}: {error.strerror or error}. Give a folder that can be written; nothing "
            f"has been asked yet",
            metadata={"option": "--out", "value": str(out)},
        ) from None


@contextlib.contextmanager
def stopping() -> Iterator[None]:
    """Let the signals that would end this process at once raise `Stopped` instead."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    before = {}
    for name in _STOPS:
        if (number := getattr(signal, name, None)) is not None:
            before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _told(as_json: bool, folder: Path | None, service: Service | None) -> Iterator[None]:
    """Report where an interrupted run is kept, and end the process as its signal would."""
    try:
        yield
    except BaseException as error:
        left = interruption(error)
        kept = left is not None and bool(left.resume)
        if folder is not None and not kept:
            (folder / COMMAND_FILE).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # it may hold what is not ours
                folder.rmdir()
        if not isinstance(error, KeyboardInterrupt):
            if left is not None and kept:
                say(_where(left, service))
                if isinstance(error, SvddtuneError):
                    error.metadata |= _metadata(left)
            raise
        code = _BY_SIGNAL + error.signal if isinstance(error, Stopped) else EXIT_INTERRUPTED
        what = "terminated" if code == EXIT_TERMINATED else "interrupted"
        message, metadata = what, dict[str, str]()
        if left is not None and kept:
            message, metadata = f"{what}. {_where(left, service)}", _metadata(left)
        sys.exit(fail(message, what.upper(), metadata, code=code, as_json=as_json))


def _where(left: Interruption, service: Service | None) -> str:
    name = left.resume.removeprefix("sessions/")
    if service is not None:
        from svddtune.client.runs.waiting import tag_options

        label = service.command("label", name, *tag_options(left.tags))
        return (
            f"Your {left.answers} kept in session {name} at {left.server}; continue with: {label}"
        )
    return f"Your {left.answers} kept in {left.folder}; continue with: {resume_command(name)}"


def _suggesting(service: Service | None) -> contextlib.AbstractContextManager[None]:
    from svddtune.client.runs.waiting import suggesting

    return contextlib.nullcontext() if service is None else suggesting(service.command)


def _metadata(left: Interruption) -> dict[str, str]:
    values = {"resume": left.resume, "answers": str(len(left.labels))}
    return values | ({"folder": str(left.folder)} if left.folder else {"server": left.server})
