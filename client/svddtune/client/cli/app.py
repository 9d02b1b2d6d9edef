"""The commands, and what becomes of errors: one line, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import svddtune
from svddtune.client.cli import (
    bench,
    demo,
    label,
    labelers,
    observations,
    oracle,
    predict,
    processes,
    sessions,
    tune,
)
from svddtune.client.cli.failure import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, fail

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
) -> None:
    """Tune SVDD outlier detectors with a few well-chosen labels."""


app.command("demo")(demo.demo)
app.command("tune")(tune.tune)
app.command("predict")(predict.predict)
app.command("label")(label.label)
app.command("up")(processes.up)
app.command("serve")(processes.serve)
app.command("worker")(processes.worker)
app.command("sessions")(sessions.sessions)
app.command("watch")(sessions.watch)
app.command("export")(sessions.export)
app.add_typer(labelers.labelers, name="labelers")
app.add_typer(bench.bench, name="bench")
app.add_typer(oracle.oracle, name="oracle")
app.add_typer(observations.observations, name="observations")

# Typer brings its own click or uses the installed one, depending on its version.
_ClickError: type[Any] = typer.BadParameter.__mro__[2]


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    as_json = "--json" in arguments
    try:
        code = typer.main.get_command(app).main(
            args=list(arguments), prog_name="svddtune", standalone_mode=False
        )
        sys.stdout.flush()
        if code == EXIT_INTERRUPTED:  # what newer Typers make of Ctrl-C
            return _interrupted(as_json)
        return code if isinstance(code, int) else 0
    except typer.Exit as error:
        if error.exit_code == EXIT_INTERRUPTED:  # what newer Typers make of Ctrl-C
            return _interrupted(as_json)
        return int(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(as_json)
    except BrokenPipeError:
        # Whoever read our output has gone; keep the interpreter from noticing once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except Exception as error:
        return _explain(error, as_json)


def _interrupted(as_json: bool) -> int:
    return fail("interrupted", "INTERRUPTED", code=EXIT_INTERRUPTED, as_json=as_json)


def _explain(error: Exception, as_json: bool) -> int:
    if isinstance(error, _ClickError):
        message = str(error.format_message()) or "say what to do"
        hint = " (see: svddtune --help)" if error.exit_code == EXIT_USAGE else ""
        return fail(" ".join(message.split()) + hint, "USAGE", code=EXIT_USAGE, as_json=as_json)
    if os.environ.get("SVDDTUNE_DEBUG"):
        raise error
    from svddtune.client.cli.usage import UsageError
    from svddtune.client.errors import SvddtuneError

    if isinstance(error, SvddtuneError):
        code = EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
        return fail(error.message, error.reason, error.metadata, code=code, as_json=as_json)
    if isinstance(error, OSError):
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return fail(what, "FILE", as_json=as_json)
    if isinstance(error, ModuleNotFoundError):
        text = f"{error.name} is not installed; install it with: pip install svddtune"
        return fail(text, "NOT_INSTALLED", as_json=as_json)
    text = f"{type(error).__name__}: {error} (SVDDTUNE_DEBUG=1 shows where; please report it)"
    return fail(text, "INTERNAL", as_json=as_json)
