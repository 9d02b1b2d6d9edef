"""The options of ``svddtune bench``; `commands` runs it."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

bench = typer.Typer(
    help="Measure every method on benchmark sets.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options that all commands have.

    Attributes
    ----------
    data : Path
        Folder of the benchmark sets.
    seeds : int
        Repetitions of each session, at least 1.
    methods, sets : tuple of str
        Names to restrict the run to; empty for all.
    out : Path
        Folder of the report and of the finished pieces of work.
    docs : Path or None
        Folder whose evaluation.md is written too.
    jobs : int
        Processes, at least 1.
    as_json : bool
        Print one JSON document instead of tables.
    """

    data: Path
    seeds: int
    methods: tuple[str, ...]
    sets: tuple[str, ...]
    out: Path
    docs: Path | None
    jobs: int
    as_json: bool


def _option(
    name: str, kind: Any, default: Any, *declared: str, **details: Any
) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(*declared, **details)],
    )


DATA = _option(
    "data",
    Path,
    inspect.Parameter.empty,
    metavar="DIR",
    help="Folder with the data sets: NAME.npz (X, y), NAME.arff or NAME.csv. "
    "builtin: stands for sets that need no file.",
)
METHODS = _option("methods", str, "", metavar="A,B,...", help="Default: all.")
CANDIDATES = _option(
    "methods",
    str,
    "",
    "--candidates",
    metavar="A,B,...",
    help="As KIND+KIND:GAMMASxCELLS:BELIEF, of those in the table. Default: all.",
)
SHARED = (
    _option("seeds", int, 5, min=1, help="Repetitions."),
    _option(
        "sets",
        str,
        "",
        metavar="A,B,...",
        help="Default: all in DIR (paper), or the paper's.",
    ),
    _option(
        "out",
        Path,
        Path("svddtune-bench"),
        metavar="DIR",
        help="Folder for the report, a CSV file of all runs, and finished work.",
    ),
    _option(
        "docs",
        Path | None,
        None,
        "--write-docs",
        "--docs",
        metavar="DIR",
        help="Folder in which to update the command's part of evaluation.md and its pictures.",
    ),
    _option("jobs", int | None, None, min=1, help="Number of processes. Default: one per core."),
    _option("as_json", bool, False, "--json", help="Print one JSON document on stdout."),
)

Share = Annotated[float, typer.Option(min=0.0, max=0.49, help="Probability of a wrong answer.")]


def takes_options(
    *own: inspect.Parameter, data: inspect.Parameter = DATA
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the shared options, and those named, in place of its first parameter.

    The command gets an `Options`. If it is interrupted, the user is told how to continue.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        names = [field.name for field in fields(Options)]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            values = {name: given.pop(name, "") for name in names}
            values |= {name: _names(values[name]) for name in ("methods", "sets")}
            values["jobs"] = values["jobs"] or _cores()
            options = Options(**values)
            try:
                command(options, **given)
            except KeyboardInterrupt:
                typer.echo(
                    f"Finished work is kept in {options.out}; run the same command again to "
                    "continue.",
                    err=True,
                )
                raise

        rest = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        parameters = [data, *own, *rest, *SHARED]
        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


@bench.callback()
def _bench() -> None:
    """Measure every method on benchmark sets."""


@bench.command()
@takes_options(METHODS)
def paper(
    options: Options,
    service: Annotated[
        bool, typer.Option(help="Also run a session per strategy through the real service.")
    ] = True,
) -> None:
    """Run the paper's whole evaluation. After an interruption the same command continues it."""
    from svddtune.evaluation import commands

    commands.run_paper(options, service=service)


@bench.command()
@takes_options(METHODS, data=DATA.replace(default=Path("builtin:")))
def further(options: Options) -> None:
    """Measure the defaults on sets that took no part in choosing them."""
    from svddtune.evaluation import commands

    commands.run_further(options)


@bench.command()
@takes_options()
def ablations(options: Options, share: Share = 0.1) -> None:
    """Measure what single steps of LAMA contribute, with true and with some wrong answers."""
    from svddtune.evaluation import commands

    commands.run_ablations(options, share=share)


@bench.command()
@takes_options(CANDIDATES)
def choose(options: Options) -> None:
    """Choose representations, lattice and belief, leaving one data set out at a time."""
    from svddtune.evaluation import commands

    commands.run_choose(options)


@bench.command()
@takes_options()
def outlook(options: Options) -> None:
    """Measure whether the share of outliers and the expected gain that sessions state are right."""
    from svddtune.evaluation import commands

    commands.run_outlook(options)


@bench.command()
@takes_options()
def competitors(options: Options) -> None:
    """Compare with what a user would pick instead: classifiers, searches, other detectors."""
    from svddtune.evaluation import commands

    commands.run_competitors(options)


@bench.command()
@takes_options()
def unseen(options: Options) -> None:
    """Measure how many outliers are found of a kind that no label has, by both detectors."""
    from svddtune.evaluation import commands

    commands.run_unseen(options)


@bench.command()
@takes_options()
def large(options: Options) -> None:
    """Measure both detectors on large sets with rare outliers, from a start without labels."""
    from svddtune.evaluation import commands

    commands.run_large(options)


@bench.command()
@takes_options(METHODS)
def noise(options: Options, share: Share = 0.1) -> None:
    """Measure how much wrong answers cost, and how much of it further votes recover."""
    from svddtune.evaluation import commands

    commands.run_noise(options, share=share)


@bench.command()
@takes_options(METHODS)
def parallel(options: Options) -> None:
    """Measure the cost of 2, 5 or 10 open queries at a time instead of one."""
    from svddtune.evaluation import commands

    commands.run_parallel(options)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
