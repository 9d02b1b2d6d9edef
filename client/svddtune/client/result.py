"""Results of sessions and runs, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune.client.json_values import jsonable
from svddtune.client.outside import OutsideRow
from svddtune.client.plots import Plots
from svddtune.client.shown import Shown
from svddtune.client.types import (
    Dataset,
    DetectorComparison,
    OutlierShare,
    Quality,
    Session,
    Verdict,
)
from svddtune.config import SessionConfig

if TYPE_CHECKING:
    from svddtune.client.model import SvddModel
    from svddtune.client.types import LabelArray, Which


@dataclass(frozen=True, slots=True, repr=False)
class GridCell(Shown):
    """One cell of the C grid at the chosen scaling and gamma."""

    C: float
    nu: float
    score: float
    outside_count: int
    support_vector_count: int
    R2: float
    degenerate: bool


@dataclass(frozen=True, slots=True, repr=False)
class AlignmentPoint(Shown):
    """Local alignment, in [-1, 1], at one gamma, for the scaling `Manifest.base_scaling`."""

    gamma: float
    alignment: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Shown):
    """A label-free rule for gamma, scored on the same labels.

    The rule sees the columns in the representation `scaling`. `best_c_score` is the best score over
    C at the gamma of the atlas nearest to the rule's: whether the labels support the rule. NaN
    without an atlas.
    """

    name: str
    gamma: float
    nu: float
    score: float
    outside_count: int
    best_c_score: float = float("nan")
    outside: bytes = field(default=b"", repr=False)
    scaling: str = ""

    def predictions(self, count: int) -> LabelArray | None:
        """Return +1 or -1 for each row of the dataset, as the rule's model has them.

        Parameters
        ----------
        count : int
            Rows of the dataset.

        Returns
        -------
        array (count,) or None
            None above 4,096 rows, where the service does not send them.
        """
        if not self.outside:
            return None
        bits = np.unpackbits(np.frombuffer(self.outside, dtype=np.uint8), count=count)
        return np.where(bits == 1, np.int8(-1), np.int8(1))


@dataclass(frozen=True, slots=True, repr=False)
class Manifest(Shown):
    """What a result was computed from; enough to compute it again.

    `provenances` counts, for each rule that gave verdicts, the votes in force that rest on it.
    `config` has all settings in force; ``create_session(dataset, config=...)`` takes it.
    ``result.proto`` describes how to come to the same result.
    """

    versions: Mapping[str, str]
    dataset_hash: str
    seed: int
    last_event_id: str
    labeled_rows: tuple[int, ...]
    verdicts: tuple[Verdict | None, ...]
    query_rows: tuple[int, ...]
    kernel_mean_sample: int
    fit_sample: int
    provenances: Mapping[str, int]
    # None in results of services older than 0.2; so are the scalings empty.
    config: SessionConfig | None = None
    # The dataset's, which may be "auto"; that of neighbours, alignment and label-free rules; those
    # of the atlas's cells, and that of the labels' model of the data, empty without an atlas.
    scaling: str = ""
    base_scaling: str = ""
    atlas_scalings: tuple[str, ...] = ()
    belief_scaling: str = ""
    # Probability that the label of each of labeled_rows is right; empty: all are taken as true.
    certainties: tuple[float, ...] = ()
    # Name of a session that votes were taken over from -> number of votes in force from it.
    origins: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class RefinedResult(Shown):
    """The refined detector of a result; the model holds the detector itself.

    `comparison` sets it against the tuned SVDD on held-out labels; None where a class has fewer
    than two labels. `outside_count` is the number of rows that it calls outliers.
    """

    comparison: DetectorComparison | None
    outside_count: int


@dataclass(frozen=True, slots=True, repr=False)
class Result(Plots, Shown):
    """The result of a session. It is immutable; later labels make a new one.

    `scaling` is the chosen representation of the columns, for example "minmax"; empty in results of
    services older than 0.2. C lies in `C_bounds` = [1/N, the smallest C at which no row is
    outside]; nu = 1/(N C).
    """

    name: str
    scaling: str
    gamma: float
    C: float
    nu: float
    C_bounds: tuple[float, float]
    quality: Quality
    # On the audited observations; None without any.
    audit: Quality | None
    # "alignment" (LAMA) or "atlas".
    choice: str
    c_curve: tuple[GridCell, ...]
    alignment_curve: tuple[AlignmentPoint, ...]
    comparisons: tuple[Comparison, ...]
    manifest: Manifest
    notes: tuple[str, ...]
    outside_count: int
    support_vector_count: int
    estimate_seconds: float
    create_time: datetime | None
    # None where gamma and C were chosen without an atlas, or a class has no label.
    refined: RefinedResult | None = None
    # None without an atlas, with fewer than 10 labels or without labels of both classes, unless the
    # audit has 20 answers.
    outlier_share: OutlierShare | None = None
    # What 10 further labels are expected to gain, see `LiveEvidence`; None where that is None.
    expected_gain: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; what cannot be judged is None."""
        return jsonable(self)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, repr=False)
class Asked(Shown):
    """One query and what became of it; verdict None where it was skipped."""

    number: int
    observation_id: str
    row: int
    verdict: Verdict | None
    why: str
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Timings(Shown):
    """Where the seconds of a run went. `per_query` is from Answer to the next Assign arriving."""

    total: float
    start: float
    upload: float
    prepare: float
    label: float
    estimate: float
    per_query: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TuningResult(Plots, Shown):
    """What `tune` returns: the result, the model, and how it came about.

    `outside` holds the rows of the data that the model calls outliers, the farthest first.
    """

    result: Result
    model: SvddModel
    dataset: Dataset
    session: Session
    initial: Mapping[str, Verdict]
    asked: tuple[Asked, ...]
    timings: Timings
    versions: Mapping[str, str]
    outside: tuple[OutsideRow, ...]

    def _plotted(self) -> Result:
        return self.result

    @property
    def scaling(self) -> str:
        """The chosen representation of the columns, for example "minmax"."""
        return self.result.scaling

    @property
    def gamma(self) -> float:
        """The kernel's gamma: k(x, z) = exp(-gamma |x - z|^2) on scaled features."""
        return self.result.gamma

    @property
    def C(self) -> float:
        """The cost."""
        return self.result.C

    @property
    def nu(self) -> float:
        """1 / (N C)."""
        return self.result.nu

    @property
    def C_bounds(self) -> tuple[float, float]:
        """The range that C was chosen from."""
        return self.result.C_bounds

    @property
    def quality(self) -> Quality:
        """The score on the labels."""
        return self.result.quality

    @property
    def audit(self) -> Quality | None:
        """The score on the audited observations, unbiased for all rows; None without an audit."""
        return self.result.audit

    @property
    def outlier_share(self) -> OutlierShare | None:
        """The estimated share of outliers among all rows; None where there is none."""
        return self.result.outlier_share

    @property
    def expected_gain(self) -> float | None:
        """What 10 further labels are expected to raise kappa on all rows by; None if not known."""
        return self.result.expected_gain

    @property
    def refined(self) -> RefinedResult | None:
        """The refined detector beside the tuned SVDD; None where there is none."""
        return self.result.refined

    @property
    def notes(self) -> tuple[str, ...]:
        """Plain sentences on what could not be judged, and why."""
        return self.result.notes

    @property
    def queries(self) -> tuple[str, ...]:
        """Observation ids in the order in which they were asked about."""
        return tuple(asked.observation_id for asked in self.asked)

    def predict(self, X: Any, *, which: Which = "svdd") -> LabelArray:
        """Return +1 (inlier) or -1 (outlier) for each raw row, shape (n,).

        Parameters
        ----------
        X : array-like or frame (n, M)
            Raw rows; a frame is matched by the names of its columns.
        which : {"svdd", "refined"}
            The tuned SVDD, or the refined detector.

        Raises
        ------
        InvalidInput
            As `SvddModel.predict`.
        """
        return self.model.predict(X, which=which)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        per_query = self.timings.per_query
        p50, p95 = np.percentile(per_query, [50, 95]).tolist() if per_query else (None, None)
        result = self.result.to_dict()
        return {
            "dataset": {
                "name": self.dataset.display_name,
                "n": self.dataset.observation_count,
                "m": self.dataset.feature_count,
                "hash": self.dataset.content_hash,
            },
            "session": self.session.name,
            "strategy": self.session.config.strategy,
            "seed": self.session.config.seed,
            "labels": {
                "total": self.quality.counts.total,
                "inlier": self.quality.counts.inlier,
                "outlier": self.quality.counts.outlier,
            },
            "scaling": self.scaling,
            "gamma": jsonable(self.gamma),
            "C": jsonable(self.C),
            "nu": jsonable(self.nu),
            "C_bounds": jsonable(self.C_bounds),
            "choice": self.result.choice,
            "quality": result["quality"],
            "audit": result["audit"],
            "outlier_share": result["outlier_share"],
            "expected_gain": result["expected_gain"],
            "refined": result["refined"],
            "defaults": {rule.name: jsonable(rule.score) for rule in self.result.comparisons},
            "seconds": {
                "total": self.timings.total,
                "start": self.timings.start,
                "upload": self.timings.upload,
                "prepare": self.timings.prepare,
                "label": self.timings.label,
                "estimate": self.timings.estimate,
                "per_query_p50": p50,
                "per_query_p95": p95,
            },
            "queries": list(self.queries),
            "asked": jsonable(self.asked),
            "initial": jsonable(self.initial),
            "taken_over": jsonable(self.session.taken_over),
            "outside": jsonable(self.outside),
            "notes": list(self.notes),
            "c_curve": result["c_curve"],
            "alignment_curve": result["alignment_curve"],
            "comparisons": result["comparisons"],
            "versions": dict(self.versions),
        }
