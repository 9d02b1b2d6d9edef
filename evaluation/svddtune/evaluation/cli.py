"""The options of ``svddtune bench``; `commands` runs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

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


Data = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Folder with the data sets: NAME.npz (X, y), NAME.arff or NAME.csv. "
        "builtin: stands for sets that need no file.",
    ),
]
Seeds = Annotated[int, typer.Option(min=1, help="Repetitions.")]
Methods = Annotated[str, typer.Option(metavar="A,B,...", help="Default: all.")]
Sets = Annotated[
    str, typer.Option(metavar="A,B,...", help="Default: all in DIR (paper), or the paper's.")
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR", help="Folder for the report, a CSV file of all runs, and finished work."
    ),
]
Docs = Annotated[
    Path | None,
    typer.Option(
        "--write-docs",
        "--docs",
        metavar="DIR",
        help="Folder in which to update the command's part of evaluation.md and its pictures.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Number of processes. Default: one per core.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]

OUT = Path("svddtune-bench")


@bench.callback()
def _bench() -> None:
    """Measure every method on benchmark sets."""


@bench.command()
def paper(
    data: Data,
    seeds: Seeds = 5,
    methods: Methods = "",
    sets: Sets = "",
    out: Out = OUT,
    docs: Docs = None,
    service: Annotated[
        bool, typer.Option(help="Also run a session per strategy through the real service.")
    ] = True,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Run the paper's whole evaluation. After an interruption the same command continues it."""
    from svddtune.evaluation import commands

    options = _options(data, seeds, methods, sets, out, docs, jobs, as_json)
    _run(options, lambda: commands.run_paper(options, service=service))


@bench.command()
def further(
    data: Data = Path("builtin:"),
    seeds: Seeds = 5,
    methods: Methods = "",
    sets: Sets = "",
    out: Out = OUT,
    docs: Docs = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Measure the defaults on sets that took no part in choosing them."""
    from svddtune.evaluation import commands

    options = _options(data, seeds, methods, sets, out, docs, jobs, as_json)
    _run(options, lambda: commands.run_further(options))


@bench.command()
def ablations(
    data: Data,
    seeds: Seeds = 5,
    share: Annotated[
        float, typer.Option(min=0.0, max=0.49, help="Probability that an answer is wrong.")
    ] = 0.1,
    sets: Sets = "",
    out: Out = OUT,
    docs: Docs = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Measure what single steps of LAMA contribute, with true and with some wrong answers."""
    from svddtune.evaluation import commands

    options = _options(data, seeds, "", sets, out, docs, jobs, as_json)
    _run(options, lambda: commands.run_ablations(options, share=share))


@bench.command()
def choose(
    data: Data,
    seeds: Seeds = 5,
    candidates: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="As KIND+KIND:GAMMASxCELLS:BELIEF, of those in the table. Default: all.",
        ),
    ] = "",
    sets: Sets = "",
    out: Out = OUT,
    docs: Docs = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Choose representations, lattice and belief, leaving one data set out at a time."""
    from svddtune.evaluation import commands

    options = _options(data, seeds, candidates, sets, out, docs, jobs, as_json)
    _run(options, lambda: commands.run_choose(options))


@bench.command()
def competitors(
    data: Data,
    seeds: Seeds = 5,
    sets: Sets = "",
    out: Out = OUT,
    docs: Docs = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Compare with what a user would pick instead: classifiers, searches, other detectors."""
    from svddtune.evaluation import commands

    options = _options(data, seeds, "", sets, out, docs, jobs, as_json)
    _run(options, lambda: commands.run_competitors(options))


@bench.command()
def noise(
    data: Data,
    seeds: Seeds = 5,
    share: Annotated[
        float, typer.Option(min=0.0, max=0.49, help="Probability that a vote is wrong.")
    ] = 0.1,
    methods: Methods = "",
    sets: Sets = "",
    out: Out = OUT,
    docs: Docs = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Measure how much wrong answers cost, and how much of it further votes recover."""
    from svddtune.evaluation import commands

    options = _options(data, seeds, methods, sets, out, docs, jobs, as_json)
    _run(options, lambda: commands.run_noise(options, share=share))


@bench.command()
def parallel(
    data: Data,
    seeds: Seeds = 5,
    methods: Methods = "",
    sets: Sets = "",
    out: Out = OUT,
    docs: Docs = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Measure the cost of 2, 5 or 10 open queries at a time instead of one."""
    from svddtune.evaluation import commands

    options = _options(data, seeds, methods, sets, out, docs, jobs, as_json)
    _run(options, lambda: commands.run_parallel(options))


def _options(
    data: Path,
    seeds: int,
    methods: str,
    sets: str,
    out: Path,
    docs: Path | None,
    jobs: int | None,
    as_json: bool,
) -> Options:
    return Options(data, seeds, _names(methods), _names(sets), out, docs, jobs or _cores(), as_json)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(options: Options, command: Callable[[], None]) -> None:
    """Run a command. If it is interrupted, say how to continue."""
    try:
        command()
    except KeyboardInterrupt:
        typer.echo(
            f"Finished work is kept in {options.out}; run the same command again to continue.",
            err=True,
        )
        raise
