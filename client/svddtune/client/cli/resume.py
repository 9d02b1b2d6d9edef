"""``svddtune resume``: go on with a run of ``svddtune tune`` that was interrupted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli.options import Json
from svddtune.client.terminal.output import print_json, say, stdout
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.runs.kept import Summary


def resume(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="Name of the run, the beginning of its name, or its folder."
        ),
    ] = None,
    finish: Annotated[
        bool,
        typer.Option("--finish", help="Ask no more; compute the result from the labels so far."),
    ] = False,
    budget: Annotated[
        int | None, typer.Option(min=1, help="New number of labels, in place of the run's own.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the files. Default: the one given when the run began."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = 2,
    listed: Annotated[bool, typer.Option("--list", help="List the interrupted runs.")] = False,
    as_json: Json = False,
) -> None:
    """Continue an interrupted run: same data, same options, every answer kept.

    Without RUN, continue the only interrupted run; if there are several, list them.
    """
    from svddtune.client.cli.tuning_run import SavedCommand, run_and_report
    from svddtune.client.errors import UsageError
    from svddtune.client.oracles import KnownLabels
    from svddtune.client.runs.kept import KeptRun, kept_runs
    from svddtune.client.runs.tune import tune
    from svddtune.client.terminal.prompt import TerminalPrompt

    if run is None:
        found = kept_runs()
        if listed or len(found) != 1:
            if as_json and listed:
                print_json({"runs": [_plain(one) for one in found]})
                return
            if found:
                stdout().print(_table(found))
            if listed or not found:
                say(_how(found) if found else "No run was interrupted.")
                return
            raise UsageError(f"Several runs were interrupted. {_how(found)}")
        run = found[0].name
    with_run = KeptRun.open(run)
    folder, data = with_run.folder, with_run.data()
    with_run.close()
    command = SavedCommand.load(folder)
    if command is None:
        raise UsageError(
            f"{folder} was begun in Python by tune(X, oracle); continue it there with: tune(X, "
            f"oracle, resume={str(folder)!r})",
            reason="RUN_OF_PYTHON",
            metadata={"run": str(folder)},
        )
    if out is not None:
        command = replace(command, out=str(out.absolute()))
    oracle: Any = TerminalPrompt() if command.known is None else KnownLabels(command.known)
    if finish:
        oracle = _Finished(oracle)
    run_and_report(
        command,
        partial(tune, None, resume=folder, budget=budget, workers=workers),
        oracle=oracle,
        X=data.X,
        ids=data.observation_ids,
        folder=folder,
        as_json=as_json,
    )


def _how(runs: list[Summary]) -> str:
    from svddtune.client.cli.tuning_run import resume_command

    return f"Continue one, for example the first, with: {resume_command(runs[0].name)}"


class _Finished:
    """An oracle that stops at once, so that the result comes from the labels so far."""

    def __init__(self, oracle: Any) -> None:
        self.dropped: list[str] = getattr(oracle, "dropped", [])

    def __call__(self, query: Any) -> Any:
        from svddtune.client.oracles import Command

        return Command.STOP


def _plain(run: Summary) -> dict[str, Any]:
    return {
        "name": run.name,
        "folder": str(run.folder),
        "data": run.title,
        "created": run.created.isoformat(),
        "answers": run.answers,
        "budget": run.budget,
        "running": run.running,
        "bytes": run.bytes,
    }


def _table(runs: list[Summary]) -> Any:
    from rich.table import Table

    table = Table(box=None)
    for name in ("run", "begun", "answers", "budget", "size", ""):
        table.add_column(name, overflow="fold")
    for run in runs:
        table.add_row(
            visible(run.name),
            run.created.strftime("%Y-%m-%d %H:%M"),
            "-" if run.answers is None else str(run.answers),
            str(run.budget),
            f"{run.bytes / 2**20:.1f} MB",
            "running" if run.running else "",
        )
    return table
