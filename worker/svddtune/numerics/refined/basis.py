"""What the refined detector needs of a dataset before any label: computed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import IsolationForest

from svddtune.numerics.refined.convert import isolation_trees
from svddtune.numerics.survey import Survey, survey
from svddtune.numerics.types import FloatArray
from svddtune.numerics.views import Views
from svddtune.refined import NeighborScore, Novelty
from svddtune.refined.novelty import neighbor_distances
from svddtune.representation import Representation

COLUMNS = "normal"
"""Representation of the columns that the classifiers see."""
NEIGHBOR_KINDS = ("minmax", "normal", "standard", "whitened")
"""Representations in which distances to neighbours are taken."""
NEIGHBOR = 10
REFERENCE_ROWS = 512
"""Rows that distances are taken to: a uniform sample, so that a model file stays small."""
ISOLATION_TREES = 100
FLOOR = 1e-3
"""Shortest distance that counts, in medians of the distance to the farther neighbour."""
FEATURE_ROWS = 20_000
"""Rows up to which all standardise the features; of more a uniform sample."""


@dataclass(frozen=True, slots=True, eq=False)
class RefinedBasis:
    """The label-independent part.

    Attributes
    ----------
    representation : Representation
        `COLUMNS` of the dataset.
    novelty : Novelty
    center, scale : FloatArray, shape (D + S,)
        Mean and standard deviation of the features; a constant feature has the scale 1.
    """

    representation: Representation
    novelty: Novelty
    center: FloatArray
    scale: FloatArray

    def features(self, raw: FloatArray) -> FloatArray:
        """Features of raw rows, shape (n, D + S), as `RefinedDetector.features`."""
        columns = (self.representation.apply(raw), self.novelty.apply(raw))
        return np.asarray((np.column_stack(columns) - self.center) / self.scale)

    def survey(self, raw: FloatArray) -> Survey | None:
        """Survey of the dataset's rows; None where all of them are in the panel."""
        return survey(raw, self.features, columns=self.representation.columns_out)


def refined_basis(views: Views, *, seed: int = 0) -> RefinedBasis:
    """Measure a dataset for the refined detector.

    Parameters
    ----------
    views : Views
        At least 2 rows, with "none" as scaling or any other: it has representations of its own.
    seed : int
        Draws the reference rows and the isolation forest.

    Returns
    -------
    RefinedBasis
    """
    raw, rng = views.raw, np.random.default_rng(seed)
    N = len(raw)
    drawn = np.arange(N)
    if N > REFERENCE_ROWS:
        drawn = np.sort(rng.choice(N, REFERENCE_ROWS, replace=False))
    measured = drawn if N > FEATURE_ROWS else np.arange(N)
    if N > FEATURE_ROWS:
        measured = np.sort(rng.choice(N, FEATURE_ROWS, replace=False))
    standard = views.representation("standard")
    forest = IsolationForest(n_estimators=ISOLATION_TREES, random_state=seed)
    forest.fit(standard.apply(raw[measured]).astype(np.float32))
    novelty = Novelty(
        standard,
        isolation_trees(forest),
        tuple(_neighbors(views.representation(kind), raw[drawn]) for kind in NEIGHBOR_KINDS),
    )
    representation = views.representation(COLUMNS)
    features = np.column_stack((representation.apply(raw[measured]), novelty.apply(raw[measured])))
    center, scale = features.mean(axis=0), features.std(axis=0)
    varied = scale > 1e-12 * np.maximum(1.0, np.abs(center))
    return RefinedBasis(representation, novelty, center, np.where(varied, scale, 1.0))


def _neighbors(representation: Representation, rows: FloatArray) -> NeighborScore:
    reference = representation.apply(rows)
    k = min(NEIGHBOR, len(reference) - 1)
    farther = neighbor_distances(reference, reference, k)[:, 1]
    positive = farther[farther > 0.0]
    floor = FLOOR * float(np.median(positive)) if len(positive) else 1.0
    return NeighborScore(representation, reference, k, floor)
