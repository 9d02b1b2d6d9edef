"""``svddtune demo``: the whole product on real data, without preparation."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.cli.options import Json
from svddtune.client.cli.session_options import takes_settings
from svddtune.config import Settings

if TYPE_CHECKING:
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
    as_json: Json = False,
) -> None:
    """Tune on real data with a simulated oracle; starts a service and workers for this run.

    The data: breast cancer diagnostics (Wisconsin), the benign rows and ten malignant ones.
    """
    from svddtune.client.cli.tuning_run import SavedCommand, check_out, run_and_report
    from svddtune.client.oracles import KnownLabels
    from svddtune.client.runs.kept import new_folder
    from svddtune.client.runs.tune import tune
    from svddtune.client.types import Verdict

    check_out(out)
    X, truth, ids = wisconsin()
    known = {key: Verdict.of(int(sign)).value for key, sign in zip(ids, truth, strict=True)}
    command = SavedCommand("DATA.csv", known, str(out.absolute()))
    folder = new_folder("demo")
    command.save(folder)
    run_and_report(
        command,
        partial(
            tune,
            X,
            workers=workers,
            ids=ids,
            feature_names=FEATURE_NAMES,
            name="Wisconsin diagnostic (367 x 30, 10 outliers)",
            labeler="simulated-oracle",
            storage=folder,
            **settings,
        ),
        oracle=KnownLabels(known),
        X=X,
        ids=ids,
        folder=folder,
        as_json=as_json,
        next_commands={
            "svddtune tune DATA.csv --label-column NAME": "your own data, labels in a column",
            "svddtune tune DATA.csv": "you answer at the terminal: i, o, u",
            "svddtune up": "a service that keeps running, for many labelers and programs",
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
