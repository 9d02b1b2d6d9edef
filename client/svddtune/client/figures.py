"""What people are shown of a session: history, atlas, map, and what its data are like."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.client.pictures import draw_history, draw_quality
from svddtune.client.plots import drawn
from svddtune.client.shown import Shown
from svddtune.client.types import FloatArray, LabelCounts, Quality


@dataclass(frozen=True, slots=True, repr=False)
class HistoryPoint(Shown):
    """What was live when a session had so many labels.

    Attributes
    ----------
    labels : int
        Number of labels, of the `counts` the inliers and outliers.
    time : datetime or None
        When the observations were ranked with these labels; None for rankings by an earlier
        version of the service.
    gamma, C, scaling
        Of the best cell. Without an atlas, C is 0 until there is a result.
    quality : Quality or None
        Score on the labels; None without an atlas, until there is a result.
    expected : float
        Expected score on all observations; NaN where it is not known.
    alignment : float
        Local alignment at gamma, in [-1, 1]; NaN where the strategy does not compute it.
    outside_count : int
        Observations that the best cell calls outliers.
    expected_gain : float
        What the next 10 labels are expected to add to Cohen's kappa; NaN where it is not known.
    advice : str
        Whether more labels are worth their price.
    """

    labels: int
    counts: LabelCounts
    time: datetime | None
    gamma: float
    C: float
    scaling: str
    quality: Quality | None
    expected: float
    alignment: float
    outside_count: int
    expected_gain: float
    advice: str


class History(tuple[HistoryPoint, ...]):
    """What was live with each number of labels, oldest first."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<History of {len(self)} points>"

    def plot(self, axes: Any = None) -> Any:
        """Draw gamma and C over the number of labels; return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; default a new figure's.

        Raises
        ------
        NotInstalled
            The extra pictures is not installed.
        """
        return drawn(lambda on: draw_history(on, self), axes)

    def plot_quality(self, axes: Any = None) -> Any:
        """Draw the score on the labels over their number; return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; default a new figure's.

        Raises
        ------
        NotInstalled
            The extra pictures is not installed.
        """
        return drawn(lambda on: draw_quality(on, self), axes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AtlasLayer(Shown):
    """The cells of one representation of the columns: G values of gamma, K of C for each.

    Attributes
    ----------
    scaling : str
        The representation.
    gammas : array (G,)
        Ascending.
    costs : array (G, K)
        C of each cell, ascending; NaN where there is no cell.
    scores : array (G, K)
        Expected score of each cell on all observations; NaN where there is no cell.
    outside_counts : array (G, K)
        Observations that each cell calls outliers; 0 where there is no cell.
    weights : array (G, K)
        Share of each cell in the evidence; all layers together sum to 1.
    """

    scaling: str
    gammas: FloatArray
    costs: FloatArray
    scores: FloatArray
    outside_counts: NDArray[np.int64]
    weights: FloatArray


@dataclass(frozen=True, slots=True, repr=False)
class Atlas(Shown):
    """What `labels` labels say of every cell. There are no layers until the atlas is complete."""

    labels: int
    layers: tuple[AtlasLayer, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SessionMap(Shown):
    """The data in two dimensions: a uniform sample of the rows, and all that are labelled.

    Attributes
    ----------
    labels : int
        Number of labels behind the margins.
    rows : array (n,)
        Rows in the dataset, 0-based; none until the dataset is prepared.
    observation_ids : tuple of str
        Their ids.
    x, y : array (n,)
        Their coordinates.
    margins : array (n,)
        Squared distance from the centre of the best cell's sphere less its squared radius: positive
        is outside. NaN for rows labelled since they were computed, and for all before.
    method : str
        How the coordinates were found.
    explained_share : float
        Share of the variance that both coordinates explain, in [0, 1].
    """

    labels: int
    rows: NDArray[np.int64]
    observation_ids: tuple[str, ...]
    x: FloatArray
    y: FloatArray
    margins: FloatArray
    method: str
    explained_share: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FeatureProfile(Shown):
    """What the values of one feature are like.

    Attributes
    ----------
    name : str
        Name of the column; empty where the dataset has no names.
    column : int
        In the dataset, 0-based.
    center, spread : float
        Median, and a robust standard deviation, which is 0 for a constant column.
    points : array (K,)
        Values that occur, ascending, at most 33.
    shares : array (K,)
        Share of the observations with at most that value, ascending to 1.
    minimum, maximum : float
        The least value and the largest.
    """

    name: str
    column: int
    center: float
    spread: float
    points: FloatArray
    shares: FloatArray
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True, repr=False)
class DataProfile(Shown):
    """The features that a session's labelers see, of `observation_count` observations.

    There are no features until the dataset is prepared, nor where labelers see none.
    """

    features: tuple[FeatureProfile, ...]
    observation_count: int


@dataclass(frozen=True, slots=True, repr=False)
class WorkerLoad(Shown):
    """A worker that is there.

    Attributes
    ----------
    name : str
        A random one.
    last_seen : datetime or None
        When it last gave a sign of life.
    job : str
        Kind of its job, e.g. "SUGGEST"; empty while it has none.
    memory_bytes : int
        Memory that it uses; 0 where that is not known.
    """

    name: str
    last_seen: datetime | None
    job: str
    memory_bytes: int


@dataclass(frozen=True, slots=True, repr=False)
class ServerLoad(Shown):
    """Who computes for a service, and what waits.

    Attributes
    ----------
    workers : tuple of WorkerLoad
        Longest running first.
    urgent_jobs, bulk_jobs : int
        Jobs that no worker has begun: those that labelers wait for, and others.
    running_jobs : int
        Jobs that workers do now.
    given_up_jobs : int
        Jobs that were given up after several tries.
    """

    workers: tuple[WorkerLoad, ...]
    urgent_jobs: int
    bulk_jobs: int
    running_jobs: int
    given_up_jobs: int
