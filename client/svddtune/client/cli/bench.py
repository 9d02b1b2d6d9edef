"""``svddtune bench``: the evaluation, in a process of its own that has the numerics."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from svddtune.client.cli.output import Json

bench = typer.Typer(
    help="Measure every method on benchmark sets.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@bench.callback()
def _bench() -> None:
    """Measure every method on benchmark sets."""


@bench.command()
def paper(
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of NAME.npz (X, y), NAME.arff or NAME.csv.")
    ],
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions.")] = 5,
    methods: Annotated[str, typer.Option(metavar="A,B,...", help="Default: all.")] = "",
    sets: Annotated[str, typer.Option(metavar="A,B,...", help="Default: all in DIR.")] = "",
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Report, runs.csv, and all that is finished.")
    ] = Path("svddtune-bench"),
    docs: Annotated[
        Path | None,
        typer.Option(
            "--write-docs",
            "--docs",
            metavar="DIR",
            help="Write evaluation.md and its pictures here too.",
        ),
    ] = None,
    service: Annotated[
        bool, typer.Option(help="Also run a session per strategy through the real service.")
    ] = True,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes. Default: one a core.")] = None,
    as_json: Json = False,
) -> None:
    """Run the paper's whole evaluation; the same command goes on where it was interrupted."""
    from svddtune.client.errors import Unavailable

    if find_spec("sklearn") is None:
        raise Unavailable(
            "The numerics are not installed; install them with: pip install 'svddtune[all]'",
            reason="NOT_INSTALLED",
        )
    arguments = ["paper", "--data", str(data), "--seeds", str(seeds), "--out", str(out)]
    arguments += ["--methods", methods] if methods else []
    arguments += ["--sets", sets] if sets else []
    arguments += ["--write-docs", str(docs)] if docs else []
    arguments += ["--jobs", str(jobs)] if jobs else []
    arguments += [] if service else ["--no-service"]
    arguments += ["--json"] if as_json else []
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "svddtune.bench", *arguments])
