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
    Views,
    belief_basis,
    class_counts,
    fit_atlas,
    judged,
    prepare,
    score,
)
from svddtune.numerics.panel import PANEL_ROWS
from svddtune.numerics.refined import RefinedBasis, refined_basis

LOCALITY = 5
MOST_NEIGHBOURS = 30


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work with all it needs: the set, its rows, truth and preparation.

    With the parameter "scaling" of the work, rows have that representation, or the base one of
    "auto"; without it they are as the set has them.
    """

    data: BenchSet
    views: Views
    y: LabelArray
    given: Mapping[str, Parameter]
    folder: Path

    @property
    def X(self) -> FloatArray:
        """Rows in the base representation, shape (N, M)."""
        return self.views.X

    @property
    def prep(self) -> Preparation:
        """Of `X`."""
        return _prepared(self.data.path, self.views.scaling)

    @property
    def atlas(self) -> Atlas:
        """Of the views: made once, and kept in `folder` for all processes."""
        gammas = int(self.given.get("gammas", 0))
        return atlas_of(self.data, self.views.scaling, self.folder, gammas=gammas)

    @property
    def basis(self) -> BeliefBasis:
        """What the belief needs of the set."""
        return _basis(self.data.path, self.views.scaling)

    @property
    def refined_basis(self) -> RefinedBasis:
        """What the refined detector needs of the set."""
        return _refined_basis(self.data.path)

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
    given = dict(unit.parameters)
    views = _views(unit.data.path, str(given.get("scaling", "none")))
    return Task(unit.data, views, load(unit.data.path)[1], given, folder)


@lru_cache(maxsize=4)
def _views(path: str, scaling: str) -> Views:
    return Views(load(path)[0], scaling)


@lru_cache(maxsize=4)
def _prepared(path: str, scaling: str) -> Preparation:
    return prepare(_views(path, scaling).X, k=MOST_NEIGHBOURS)


@lru_cache(maxsize=4)
def _basis(path: str, scaling: str) -> BeliefBasis:
    views = _views(path, scaling)
    survey = _refined_basis(path).survey(views.raw) if len(views) > PANEL_ROWS else None
    return belief_basis(views.rows(views.belief), survey=survey)


@lru_cache(maxsize=4)
def _refined_basis(path: str) -> RefinedBasis:
    return refined_basis(_views(path, "none"))


@lru_cache(maxsize=8)
def atlas_of(data: BenchSet, scaling: str, folder: Path, *, gammas: int = 0) -> Atlas:
    """The atlas of a set with a scaling, kept in `folder`; 0 gammas are the product's number."""
    path = folder / f"{atlas_unit(data, scaling, gammas=gammas).key}.npz"
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return judged(Atlas.from_arrays(arrays), _views(data.path, scaling))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    made = fit_atlas(
        _views(data.path, scaling), count=gammas or None, panel=_basis(data.path, scaling).panel
    )
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
