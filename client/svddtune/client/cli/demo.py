"""``svddtune demo``: the whole product on real data, without preparation."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli.options import Json
from svddtune.client.cli.session_options import takes_settings
from svddtune.config import Settings

if TYPE_CHECKING:
    from svddtune.client.result import TuningResult
    from svddtune.client.types import FloatArray, LabelArray

_OUTLIERS = 10
_MEASURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
FEATURE_NAMES = [
    f"{prefix} {measure}" for prefix in ("mean", "error of", "worst") for measure in _MEASURES
]


@takes_settings(["budget", "seed", "strategy"])
def demo(
    *,
    settings: Settings,
    out: Annotated[
        Path, typer.Option(help="Folder for the model, the picture and the result.")
    ] = Path("svddtune-demo"),
    workers: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = 2,
    show: Annotated[
        bool,
        typer.Option(
            "--open", help="Open the result in the browser, and serve it there until Ctrl-C."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Tune on real data with a simulated oracle; starts a service and workers for this run.

    The data: breast cancer diagnostics (Wisconsin), the benign rows and ten malignant ones.
    """
    from svddtune.client.cli.tuning_run import check_out
    from svddtune.client.runs.kept import new_folder

    check_out(out)
    if show:
        _in_the_browser(settings, out, workers, as_json=as_json)
        return
    folder = new_folder("demo")
    _run(settings, out, folder, as_json=as_json, storage=folder, workers=workers)


def _in_the_browser(settings: Settings, out: Path, workers: int, *, as_json: bool) -> None:
    """Run the demo in a service that goes on until Ctrl-C, and show the result there."""
    from svddtune.client.cli.processes import interrupt_on_sigterm, open_console
    from svddtune.client.errors import Unavailable
    from svddtune.client.runs.embedded import EmbeddedStack
    from svddtune.client.terminal.output import say

    interrupt_on_sigterm()
    try:
        with EmbeddedStack(workers, http_listen="127.0.0.1:0") as stack:
            tuned = _run(settings, out, None, as_json=as_json, server=stack.address)
            url = f"{stack.info['http']}/#/{tuned.session.name}/result"
            say(f"The result in the browser: {url}\nCtrl-C stops the service.")
            open_console(url)
            code = stack.wait()
        raise Unavailable(f"The service stopped with exit code {code}", reason="STACK_ENDED")
    except KeyboardInterrupt:
        say("Stopped.")


def _run(
    settings: Settings, out: Path, folder: Path | None, *, as_json: bool, **where: Any
) -> TuningResult:
    """Tune where `where` says, report, and return the result."""
    from svddtune.client.cli.tuning_run import SavedCommand, run_and_report
    from svddtune.client.oracles import KnownLabels
    from svddtune.client.runs.tune import tune
    from svddtune.client.types import Verdict

    X, truth, ids = wisconsin()
    known = {key: Verdict.of(int(sign)).value for key, sign in zip(ids, truth, strict=True)}
    command = SavedCommand("DATA.csv", known, str(out.absolute()))
    if folder is not None:
        command.save(folder)
    return run_and_report(
        command,
        partial(
            tune,
            X,
            ids=ids,
            feature_names=FEATURE_NAMES,
            name="Wisconsin diagnostic (367 x 30, 10 outliers)",
            labeler="simulated-oracle",
            **where,
            **settings,
        ),
        oracle=KnownLabels(known),
        X=X,
        ids=ids,
        folder=folder,
        as_json=as_json,
        next_commands={
            "svddtune up --open": "your own CSV file, in the browser",
            "svddtune tune DATA.csv --label-column NAME": "your own data, labels in a column",
            "svddtune tune DATA.csv": "you answer at the terminal: i, o, u",
        },
    )


def wisconsin() -> tuple[FloatArray, LabelArray, list[str]]:
    """Return rows, +1 (benign) or -1 (malignant), and ids (rows of the original file).

    All 357 benign rows and the first 10 malignant ones, in file order, as the literature has it;
    read from the file that scikit-learn brings along.
    """
    from importlib import resources

    import numpy as np

    from svddtune.client.extras import check_complete

    check_complete()
    source = resources.files("sklearn.datasets.data").joinpath("breast_cancer.csv")
    text = source.read_text()
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
    benign = table[:, -1] == 1
    chosen = np.sort(np.concatenate([np.flatnonzero(benign), np.flatnonzero(~benign)[:_OUTLIERS]]))
    truth = np.where(benign[chosen], 1, -1).astype(np.int8)
    return table[chosen, :-1], truth, [str(row) for row in chosen]
