"""Datasets and preparations that a worker keeps between jobs."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import cast

from svddtune.numerics import FloatArray, Preparation, Scaling, fit_scaling, prepare
from svddtune.numerics.scaling import ScalingKind
from svddtune.state.queue import Claim
from svddtune.state.workspace import Snapshot, Workspace
from svddtune.v1 import dataset_pb2

SCALINGS: dict[int, ScalingKind] = {
    dataset_pb2.SCALING_KIND_UNSPECIFIED: "none",
    dataset_pb2.SCALING_KIND_NONE: "none",
    dataset_pb2.SCALING_KIND_MIN_MAX: "minmax",
    dataset_pb2.SCALING_KIND_ROBUST: "robust",
}


@dataclass(frozen=True, slots=True)
class Data:
    """A dataset as the method sees it."""

    description: dataset_pb2.Dataset
    raw: FloatArray
    scaling: Scaling
    # raw, scaled.
    X: FloatArray


class DataCache:
    """Least recently used datasets and preparations go first once the limit is passed.

    Entries are named by content, so they are never stale.
    """

    def __init__(self, workspace: Workspace, *, limit_bytes: int) -> None:
        self._workspace = workspace
        self._limit = limit_bytes
        self._entries: OrderedDict[tuple[object, ...], tuple[Data | Preparation, int]] = (
            OrderedDict()
        )

    def data(self, claim: Claim) -> Data:
        """The job's dataset. Raises NotFound where it was deleted."""
        key = ("data", claim.dataset_id)
        found = self._get(key)
        if found is None:
            description, raw = self._workspace.dataset(claim)
            scaling = fit_scaling(raw, SCALINGS[description.scaling])
            X = raw if scaling.kind == "none" else scaling.apply(raw)
            found = self._put(key, Data(description, raw, scaling, X), raw.nbytes + X.nbytes)
        return cast(Data, found)

    def preparation(self, claim: Claim, snapshot: Snapshot) -> Preparation:
        """What PREPARE made for the session's locality, over the session's range of gamma."""
        k, bounds = snapshot.prep_k, snapshot.session.config.gamma_bounds
        key = ("preparation", claim.dataset_id, k, bounds)
        found = self._get(key)
        if found is None:
            made = Preparation.from_arrays(self._workspace.preparation(claim, k))
            if bounds is not None:
                made = self._with_bounds(claim, made, bounds)
            size = made.nn.nbytes + made.row_means.nbytes
            found = self._put(key, made, size)
        return cast(Preparation, found)

    def _with_bounds(
        self, claim: Claim, made: Preparation, bounds: tuple[float, float]
    ) -> Preparation:
        low, high = made.gamma_bounds
        if low <= bounds[0] and bounds[1] <= high:
            return replace(made, gamma_bounds=bounds)
        # Wider than the stored table of kernel means: this session's own is made here, once.
        return prepare(self.data(claim).X, k=made.K, gamma_bounds=bounds)

    def _get(self, key: tuple[object, ...]) -> Data | Preparation | None:
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key][0]

    def _put(
        self, key: tuple[object, ...], value: Data | Preparation, size: int
    ) -> Data | Preparation:
        self._entries[key] = (value, size)
        while len(self._entries) > 1 and sum(s for _, s in self._entries.values()) > self._limit:
            self._entries.popitem(last=False)
        return value
