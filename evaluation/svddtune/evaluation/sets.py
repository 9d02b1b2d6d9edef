"""Benchmark sets: find them in a folder and load them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from svddtune.client.errors import InvalidInput, UsageError
from svddtune.client.files.data import full_truth, read_data
from svddtune.client.files.read_table import read_table
from svddtune.client.files.table import Table
from svddtune.evaluation import builtin
from svddtune.evaluation.paper import SETS
from svddtune.numerics import FloatArray, LabelArray, class_counts, fit_representation

ENDINGS = (".npz", ".arff", ".csv")
LABEL_COLUMNS = ("outlier", "y", "label", "class")
BUILTIN = "builtin:"
"""Stands for the sets that need no file, in place of a folder; also begins their paths."""
MOST_ROWS = 2000
"""Rows that the paper uses of a larger set."""


@dataclass(frozen=True, slots=True)
class BenchSet:
    """A benchmark set and its file.

    Attributes
    ----------
    name : str
        As the paper has it, or as the file has it for other sets.
    path : str
        Of the file, or `BUILTIN` and the name.
    digest : str
        Of rows and labels as they are used.
    N, M, outliers : int
    in_paper : bool
    """

    name: str
    path: str
    digest: str
    N: int
    M: int
    outliers: int
    in_paper: bool


def find_sets(folder: Path, wanted: Sequence[str] = ()) -> list[BenchSet]:
    """Return the sets in `folder`, the paper's first and in its order.

    Parameters
    ----------
    folder : Path
        Folder with one file per set, or `BUILTIN`.
    wanted : sequence of str
        Names to keep, in any case; all where empty.

    Raises
    ------
    UsageError, InvalidInput
        Where there is none, one cannot be read, or one is there twice.
    """
    found = _builtin() if str(folder) == BUILTIN else _in_folder(folder)
    names = list(found)
    if wanted:
        lower = {name.lower(): name for name in found}
        unknown = [name for name in wanted if name.lower() not in lower]
        if unknown:
            raise UsageError(
                f"--sets: unknown data set {', '.join(unknown)}; {folder} has "
                f"{', '.join(sorted(found))}"
            )
        names = [lower[name.lower()] for name in dict.fromkeys(wanted)]
    order = {name: position for position, name in enumerate((*SETS, *builtin.SETS))}
    names.sort(key=lambda name: (order.get(name, len(order)), name))
    return [_describe(name, found[name]) for name in names]


def _builtin() -> dict[str, str]:
    return {name: f"{BUILTIN}{name}" for name in builtin.SETS}


def _in_folder(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder (--data); {BUILTIN} stands for the sets that need no file"
        )
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS)
    if not files:
        raise UsageError(f"{folder} has no {', '.join(ENDINGS)} file (--data)")
    found: dict[str, Path] = {}
    for path in files:
        name = set_name(path)
        if name in found:
            raise UsageError(
                f"{found[name].name} and {path.name} are both named {name}: keep one of them"
            )
        found[name] = path
    return {name: str(path) for name, path in found.items()}


def judged(sets: Sequence[BenchSet]) -> list[BenchSet]:
    """Return the paper's sets, over which means are taken; all sets if none is the paper's."""
    return [data for data in sets if data.in_paper] or list(sets)


def set_name(path: Path) -> str:
    """Return the paper's name of a set, or the file name up to the first underscore."""
    known = {name.lower(): name for name in SETS}
    prefix = path.stem.split("_")[0]
    return known.get(prefix.lower(), prefix)


def _describe(name: str, path: str) -> BenchSet:
    try:
        X, y = load(path)
    except InvalidInput as error:
        if Path(path).name in error.message:
            raise
        raise InvalidInput(f"{path}: {error.message}") from None
    digest = hashlib.sha256(repr(X.shape).encode() + X.tobytes() + y.tobytes()).hexdigest()
    N, M = X.shape
    return BenchSet(name, path, digest, N, M, class_counts(y)[1], name in SETS)


@lru_cache(maxsize=4)
def load(path: str) -> tuple[FloatArray, LabelArray]:
    """Rows and truth of a set, ready to use.

    NPZ files are taken as they are. ARFF and CSV files are min-max scaled, and where they have
    more than `MOST_ROWS` rows the paper's draw is made from them. Sets that need no file are
    min-max scaled too.
    """
    if path.startswith(BUILTIN):
        raw, truth = builtin.make(path.removeprefix(BUILTIN))
        return fit_representation(raw, "minmax").apply(raw), truth
    table = read_table(Path(path))
    label = table.label_hint or _named(table, LABEL_COLUMNS)
    if not label:
        raise InvalidInput(
            f"{path} has no column of true classes; name it {', '.join(LABEL_COLUMNS)}"
        )
    values = set(table.text(table.index(label, "truth")))
    if values == {"0", "1"} and label.lower() != "outlier":
        raise InvalidInput(
            f"{path}: 0 and 1 in column {label!r} may mean either class; write outlier and "
            f"inlier instead"
        )
    data = read_data(
        table,
        label_column=label,
        id_column=table.id_hint or _named(table, ("id",)) or None,
        outlier_value="1" if values == {"0", "1"} else None,
    )
    y = full_truth(data.known, len(data.X))
    if y is None or min(class_counts(y)) == 0:
        raise InvalidInput(f"{path}: the evaluation needs a label for every row, of both classes")
    X = data.X
    if Path(path).suffix.lower() != ".npz":
        rows = paper_draw(y)
        X, y = fit_representation(X, "minmax").apply(X)[rows], y[rows]
    return np.ascontiguousarray(X, dtype=np.float64), y


def paper_draw(y: LabelArray, most: int = MOST_ROWS) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Rows that the authors use of a set: all of a small one, else a stratified draw.

    They draw the share `most` / N of the inliers and of the outliers, join the two, inliers
    first, and shuffle, each time by pandas' ``sample(random_state=0)``.
    """
    N = len(y)
    if most >= N:
        return np.arange(N)
    drawn = []
    for label in (1, -1):
        rows = np.flatnonzero(y == label)
        share = round(most / N * len(rows))
        drawn.append(rows[np.random.RandomState(0).choice(len(rows), share, replace=False)])
    joined = np.concatenate(drawn)
    return np.asarray(joined[np.random.RandomState(0).choice(len(joined), len(joined), False)])


def _named(table: Table, names: Sequence[str]) -> str:
    lower = {name.lower(): name for name in table.names}
    return next((lower[name] for name in names if name in lower), "")
