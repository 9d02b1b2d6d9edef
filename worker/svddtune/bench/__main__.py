"""``python -m svddtune.bench NAME``: what ``svddtune bench NAME`` runs."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from svddtune.client.cli.failure import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    EXIT_USAGE,
    fail,
)
from svddtune.client.errors import SvddtuneError, UsageError

DEFAULT_OUT = "svddtune-bench"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: {self.prog} --help)")


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    as_json = "--json" in arguments
    out = DEFAULT_OUT
    try:
        options = _parser().parse_args(arguments)
        out = options.out
        return _run(options)
    except KeyboardInterrupt as error:
        what, code = ("interrupted", EXIT_INTERRUPTED)
        if isinstance(error, _Terminated):
            what, code = ("terminated", EXIT_TERMINATED)
        text = f"{what}; what is finished is kept in {out}, the same command goes on"
        return fail(text, what.upper(), code=code, as_json=as_json)
    except SvddtuneError as error:
        if os.environ.get("SVDDTUNE_DEBUG"):
            raise
        code = EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
        return fail(error.message, error.reason, error.metadata, code=code, as_json=as_json)
    except ModuleNotFoundError as error:
        extra = "[bench]" if error.name in ("matplotlib", "PIL") else ""
        text = f"{error.name} is not installed; install it with: pip install 'svddtune{extra}'"
        return fail(text, "NOT_INSTALLED", as_json=as_json)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return fail(what, "FILE", as_json=as_json)


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


def _terminate(number: int, frame: object) -> None:
    raise _Terminated


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="svddtune bench", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command", metavar="paper|noise|parallel")
    paper = _command(commands, "paper", "the paper's whole evaluation")
    paper.add_argument("--service", action=argparse.BooleanOptionalAction, default=True)
    noise = _command(commands, "noise", "labelers who err, and what further votes buy back")
    noise.add_argument("--share", type=_share, default=0.1)
    _command(commands, "parallel", "several queries open at a time")
    return parser


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, about: str
) -> argparse.ArgumentParser:
    """Add a command with the options that all have."""
    made = commands.add_parser(name, help=about)
    made.add_argument("--data", type=Path, required=True, metavar="DIR")
    made.add_argument("--seeds", type=_positive, default=5)
    made.add_argument("--methods", type=_names, default=[], metavar="A,B,...")
    made.add_argument("--sets", type=_names, default=[], metavar="A,B,...")
    made.add_argument("--out", type=Path, default=Path(DEFAULT_OUT), metavar="DIR")
    made.add_argument("--write-docs", type=Path, dest="docs", metavar="DIR")
    made.add_argument("--jobs", type=_positive, default=_cores())
    made.add_argument("--json", action="store_true", dest="as_json")
    return made


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share of at least 0 and below 0.5")
    return value


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(options: argparse.Namespace) -> int:
    from svddtune.bench import commands

    run = {
        "paper": commands.run_paper,
        "noise": commands.run_noise,
        "parallel": commands.run_parallel,
    }
    run[options.command](options)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(main(sys.argv[1:]))
