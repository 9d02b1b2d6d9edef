"""What a piece of work needs, and what most kinds of work share."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from svddtune.evaluation.sets import BenchSet, load
from svddtune.evaluation.store import Record
from svddtune.evaluation.units import Parameter, Unit
from svddtune.evaluation.units import atlas as atlas_unit
from svddtune.numerics import (
    Atlas,
    BeliefBasis,
    FloatArray,
    LabelArray,
    Preparation,
    belief_basis,
    class_counts,
    fit_atlas,
    prepare,
    score,
)

LOCALITY = 5
MOST_NEIGHBOURS = 30


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work with all it needs: the set, its rows, truth and preparation."""

    data: BenchSet
    X: FloatArray
    y: LabelArray
    prep: Preparation
    given: Mapping[str, Parameter]
    folder: Path

    @property
    def atlas(self) -> Atlas:
        """The set's atlas: made once, and kept in `folder` for all processes."""
        return _atlas(self.data, self.folder)

    @property
    def basis(self) -> BeliefBasis:
        """What the belief needs of the set."""
        return _basis(self.data.path)

    @property
    def seed(self) -> int:
        """Of the repetition."""
        return int(self.given["seed"])

    @property
    def budget(self) -> int:
        """Labels in all; no more than there are rows."""
        return min(int(self.given["budget"]), len(self.y))

    def initial(self, each: int) -> tuple[int, int]:
        """Labels of each class to begin with: so many, or all there are."""
        inliers, outliers = class_counts(self.y)
        return min(each, inliers), min(each, outliers)


def task_of(unit: Unit, folder: Path) -> Task:
    """Load what a piece of work needs."""
    X, y = load(unit.data.path)
    return Task(unit.data, X, y, _prepared(unit.data.path), dict(unit.parameters), folder)


@lru_cache(maxsize=4)
def _prepared(path: str) -> Preparation:
    return prepare(load(path)[0], k=MOST_NEIGHBOURS)


@lru_cache(maxsize=4)
def _basis(path: str) -> BeliefBasis:
    return belief_basis(load(path)[0])


@lru_cache(maxsize=4)
def _atlas(data: BenchSet, folder: Path) -> Atlas:
    path = folder / f"{atlas_unit(data).key}.npz"
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return Atlas.from_arrays(arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    made = fit_atlas(load(data.path)[0], _prepared(data.path).gamma_bounds)
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.stem}.{os.getpid()}.partial")
    with partial.open("wb") as file:
        np.savez(file, allow_pickle=False, **made.to_arrays())
    partial.replace(path)
    return made


def point(
    y: LabelArray, labels: LabelArray, gamma: float, C: float, predictions: LabelArray
) -> Record:
    """A choice after some labels: its score on them and, for the record, on all rows."""
    inliers, outliers = class_counts(labels)
    return {
        "labels": inliers + outliers,
        "outliers": outliers,
        "gamma": gamma,
        "C": C,
        "kappa": float(score(y, predictions)),
        "label_kappa": float(score(labels, predictions)) if inliers and outliers else None,
        "outside": int((predictions < 0).sum()),
    }
