"""``python -m svddtune.bench paper``: what ``svddtune bench paper`` runs."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from svddtune.client.cli.output import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, print_json, say
from svddtune.client.cli.usage import UsageError
from svddtune.client.errors import SvddtuneError

DEFAULT_OUT = "svddtune-bench"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: svddtune bench paper --help)")


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    as_json = "--json" in arguments
    out = DEFAULT_OUT
    try:
        options = _parser().parse_args(arguments)
        out = options.out
        return _paper(options)
    except KeyboardInterrupt:
        text = f"interrupted; what is finished is kept in {out}, the same command goes on"
        return _fail(text, "INTERRUPTED", EXIT_INTERRUPTED, as_json)
    except SvddtuneError as error:
        if os.environ.get("SVDDTUNE_DEBUG"):
            raise
        code = EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
        return _fail(error.message, error.reason, code, as_json)
    except ModuleNotFoundError as error:
        text = f"{error.name} is not installed; install it with: pip install 'svddtune[all]'"
        return _fail(text, "NOT_INSTALLED", EXIT_FAILED, as_json)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _fail(what, "FILE", EXIT_FAILED, as_json)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _fail(message: str, reason: str, code: int, as_json: bool) -> int:
    say(f"svddtune: {message}")
    if as_json:
        print_json({"error": {"reason": reason, "message": message, "metadata": {}}})
    return code


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="svddtune bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="paper")
    paper = commands.add_parser("paper", help="the paper's whole evaluation")
    paper.add_argument("--data", type=Path, required=True, metavar="DIR")
    paper.add_argument("--seeds", type=_positive, default=5)
    paper.add_argument("--methods", type=_names, default=[], metavar="A,B,...")
    paper.add_argument("--sets", type=_names, default=[], metavar="A,B,...")
    paper.add_argument("--out", type=Path, default=Path(DEFAULT_OUT), metavar="DIR")
    paper.add_argument("--write-docs", type=Path, dest="docs", metavar="DIR")
    paper.add_argument("--jobs", type=_positive, default=_cores())
    paper.add_argument("--service", action=argparse.BooleanOptionalAction, default=True)
    paper.add_argument("--json", action="store_true", dest="as_json")
    return parser


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _paper(options: argparse.Namespace) -> int:
    from svddtune.bench import agreement, docs, evidence, report, summary
    from svddtune.bench.engine import complete
    from svddtune.bench.methods import METHODS
    from svddtune.bench.plan import Plan, select
    from svddtune.bench.progress import Bar
    from svddtune.bench.sets import find_sets
    from svddtune.bench.units import versions

    unknown = [name for name in options.methods if name not in METHODS]
    if unknown:
        raise UsageError(f"--methods names {', '.join(unknown)}; there are: {', '.join(METHODS)}")
    plan = Plan(
        tuple(find_sets(options.data, options.sets)), select(options.methods), options.seeds
    )
    out: Path = options.out
    units = plan.units()
    started = time.monotonic()
    with Bar(units) as bar:
        records = complete(units, out, jobs=options.jobs, on_done=bar)
    seconds = time.monotonic() - started
    compared = agreement.compare(plan, records) if options.service else []
    runs = summary.collect(plan, records)
    work = sum(record["seconds"] for record in records.values())
    told = report.Told(_command(options), seconds, work, options.jobs, versions())
    report.write_csv(out / "runs.csv", runs)
    document = report.document(plan, runs, told)
    document["evidence"] = evidence.document(plan, records)
    document["service"] = agreement.document(compared)
    (out / "result.json").write_text(json.dumps(document, indent=2, allow_nan=False) + "\n")
    pages = [
        docs.write(folder, plan, runs, records, told, compared) for folder in _folders(options)
    ]
    if options.as_json:
        print_json(document)
    else:
        print(report.overview(plan, runs) or report.table(plan, runs))
    say(f"Wrote {', '.join(str(page) for page in pages)} and {out / 'runs.csv'}")
    return 0


def _folders(options: argparse.Namespace) -> list[Path]:
    return [options.out] if options.docs is None else [options.out, options.docs]


def _command(options: argparse.Namespace) -> str:
    """The command as others would call it: the paths are theirs."""
    words = ["svddtune", "bench", "paper", "--data", "DIR", "--seeds", str(options.seeds)]
    for name in ("methods", "sets"):
        if getattr(options, name):
            words += [f"--{name}", ",".join(getattr(options, name))]
    words += ["--write-docs", "docs"] if options.docs is not None else []
    return shlex.join(words)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(main(sys.argv[1:]))
