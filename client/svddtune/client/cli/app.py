"""The commands. An error is one line, never a traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import svddtune
from svddtune.client.cli import (
    bench,
    dataset,
    demo,
    drift,
    export,
    label,
    labelers,
    observations,
    operation,
    oracle,
    plan,
    predict,
    processes,
    report,
    resume,
    tune,
    watch,
    webhook,
)
from svddtune.client.cli.failure import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    EXIT_USAGE,
    fail,
)
from svddtune.client.cli.service import own_caller, reach_as
from svddtune.client.cli.session import listing, session, steering

app = typer.Typer(
    name="svddtune",
    help="Tune SVDD outlier detectors with a few well-chosen labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"svddtune {svddtune.__version__}")
        raise typer.Exit


@app.callback()
def _svddtune(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            envvar="SVDDTUNE_TOKEN_FILE",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="File with the token that tells the service who calls; or set SVDDTUNE_TOKEN.",
        ),
    ] = None,
    client_cert: Annotated[
        Path | None,
        typer.Option(
            "--client-cert",
            envvar="SVDDTUNE_CLIENT_CERT",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="File with the certificate (PEM) that tells the service who calls; turns on "
            "encryption (TLS).",
        ),
    ] = None,
    client_key: Annotated[
        Path | None,
        typer.Option(
            "--client-key",
            envvar="SVDDTUNE_CLIENT_KEY",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="File with the key (PEM, without a password) of --client-cert.",
        ),
    ] = None,
) -> None:
    """Tune SVDD outlier detectors with a few well-chosen labels."""
    reach_as({"token_file": token_file, "client_cert": client_cert, "client_key": client_key})


app.command("demo")(demo.demo)
app.command("tune")(tune.tune)
app.command("plan")(plan.plan)
app.command("predict")(predict.predict)
app.command("drift")(drift.drift)
app.command("resume")(resume.resume)
app.command("label")(label.label)
app.command("up")(processes.up)
app.command("serve")(processes.serve)
app.command("worker")(processes.worker)
app.add_typer(dataset.dataset, name="dataset")
app.add_typer(session, name="session")
app.command("watch")(watch.watch)
app.command("export")(export.export)
app.command("report")(report.report)
# Shorter names that version 0.1.0 had.
app.command("sessions", help="The same as: svddtune session list.")(listing.list_)
app.command("finish", help="The same as: svddtune session finish.")(steering.finish)
app.add_typer(labelers.labelers, name="labelers")
# Its own options and help are the other distribution's.
app.command(
    "bench",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(bench.bench)
app.add_typer(oracle.oracle, name="oracle")
app.add_typer(observations.observations, name="observations")
app.add_typer(webhook.webhook, name="webhook")
operation.add_commands(app)

# Typer brings its own click or uses the installed one, depending on its version.
_ClickError: type[Any] = typer.BadParameter.__mro__[2]


class _Stopped:
    """Turns SIGTERM into KeyboardInterrupt, so that commands clean up; records which signal came.

    Commands that handle signals themselves replace its handler.
    """

    def __init__(self) -> None:
        self.terminated = False

    def __enter__(self) -> _Stopped:
        self._before = signal.getsignal(signal.SIGTERM)
        if self._may():
            signal.signal(signal.SIGTERM, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        if self._may():
            signal.signal(signal.SIGTERM, self._before)

    def _may(self) -> bool:
        # None: a handler that is not Python's.
        return threading.current_thread() is threading.main_thread() and self._before is not None

    def _on_signal(self, number: int, frame: object) -> None:
        self.terminated = True
        raise KeyboardInterrupt


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    say = partial(fail, as_json="--json" in arguments, as_lines="--json-lines" in arguments)
    with _Stopped() as stopped, own_caller():
        try:
            code = typer.main.get_command(app).main(
                args=list(arguments), prog_name="svddtune", standalone_mode=False
            )
            sys.stdout.flush()
        except typer.Exit as error:
            code = int(error.exit_code)
        except (KeyboardInterrupt, typer.Abort):
            code = EXIT_INTERRUPTED
        except BrokenPipeError:
            # The reader of the output has gone; prevent a second error at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_FAILED
        except Exception as error:
            return _explain(error, say)
    if code == EXIT_INTERRUPTED:  # newer versions of Typer raise this on Ctrl-C
        if stopped.terminated:
            return say("terminated", "TERMINATED", code=EXIT_TERMINATED)
        return say("interrupted", "INTERRUPTED", code=EXIT_INTERRUPTED)
    return code if isinstance(code, int) else 0


def _explain(error: Exception, say: Callable[..., int]) -> int:
    if isinstance(error, _ClickError):
        message = str(error.format_message()) or "No command was given"
        hint = " (see: svddtune --help)" if error.exit_code == EXIT_USAGE else ""
        return say(" ".join(message.split()) + hint, "USAGE", code=EXIT_USAGE)
    if os.environ.get("SVDDTUNE_DEBUG"):
        raise error
    from svddtune.client.errors import SvddtuneError, UsageError

    if isinstance(error, SvddtuneError):
        code = EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
        return say(error.message, error.reason, error.metadata, code=code)
    if isinstance(error, OSError):
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return say(what, "FILE")
    if isinstance(error, ModuleNotFoundError):
        text = f"{error.name} is not installed; install it with: pip install svddtune"
        return say(text, "NOT_INSTALLED")
    hint = "please report it; SVDDTUNE_DEBUG=1 shows the traceback"
    text = f"{type(error).__name__}: {error} ({hint})"
    return say(text, "INTERNAL")
