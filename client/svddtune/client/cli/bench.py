"""``svddtune bench``: the evaluation, in a process of its own that has the numerics."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from svddtune.client.cli.options import Json

bench = typer.Typer(
    help="Measure every method on benchmark sets.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@bench.callback()
def _bench() -> None:
    """Measure every method on benchmark sets."""


Data = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder of NAME.npz (X, y), NAME.arff or NAME.csv.")
]
Seeds = Annotated[int, typer.Option(min=1, help="Repetitions.")]
Methods = Annotated[str, typer.Option(metavar="A,B,...", help="Default: all.")]
Sets = Annotated[
    str, typer.Option(metavar="A,B,...", help="Default: all in DIR (paper), or the paper's.")
]
Out = Annotated[
    Path, typer.Option(metavar="DIR", help="Report, a CSV of all runs, and all that is finished.")
]
Docs = Annotated[
    Path | None,
    typer.Option(
        "--write-docs",
        "--docs",
        metavar="DIR",
        help="Write the command's part of evaluation.md and its pictures here too.",
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes. Default: one a core.")]

OUT = Path("svddtune-bench")


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
    """Run the paper's whole evaluation; the same command goes on where it was interrupted."""
    more = [] if service else ["--no-service"]
    _run("paper", data, seeds, methods, sets, out, docs, jobs, as_json, more)


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
    """Measure what wrong answers cost, and what further votes on an observation buy back."""
    more = ["--share", str(share)]
    _run("noise", data, seeds, methods, sets, out, docs, jobs, as_json, more)


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
    """Measure what it costs to have 2, 5 or 10 queries open at a time instead of one."""
    _run("parallel", data, seeds, methods, sets, out, docs, jobs, as_json, [])


def _run(
    command: str,
    data: Path,
    seeds: int,
    methods: str,
    sets: str,
    out: Path,
    docs: Path | None,
    jobs: int | None,
    as_json: bool,
    more: list[str],
) -> None:
    """Become the process that measures."""
    from svddtune.client.extras import check_complete

    check_complete()
    arguments = [command, "--data", str(data), "--seeds", str(seeds), "--out", str(out), *more]
    arguments += ["--methods", methods] if methods else []
    arguments += ["--sets", sets] if sets else []
    arguments += ["--write-docs", str(docs)] if docs else []
    arguments += ["--jobs", str(jobs)] if jobs else []
    arguments += ["--json"] if as_json else []
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "svddtune.bench", *arguments])
