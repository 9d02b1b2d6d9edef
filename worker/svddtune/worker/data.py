"""Datasets and preparations that a worker keeps between jobs."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from svddtune.numerics import (
    Atlas,
    BeliefBasis,
    FloatArray,
    Preparation,
    Scaling,
    Spread,
    belief_basis,
    fit_scaling,
    prepare,
    spread_of,
)
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


@dataclass(frozen=True, eq=False)
class Data:
    """A dataset as the method sees it."""

    description: dataset_pb2.Dataset
    raw: FloatArray
    scaling: Scaling
    # raw, scaled.
    X: FloatArray

    @cached_property
    def spread(self) -> Spread:
        """Where the raw values of all rows lie."""
        return spread_of(self.raw)


@dataclass(frozen=True, slots=True)
class FittedLattice:
    """A dataset's complete atlas with what is used beside it."""

    atlas: Atlas
    basis: BeliefBasis


Entry = Data | Preparation | FittedLattice


def within(atlas: Atlas, bounds: tuple[float, float]) -> Atlas:
    """The cells of the gammas in bounds; where there are none, of the gamma nearest to them."""
    low, high = bounds
    inside = (atlas.gamma >= low) & (atlas.gamma <= high)
    if not inside.any():
        middle = np.sqrt(low * high)
        nearest = atlas.gammas[np.argmin(np.abs(np.log(atlas.gammas / middle)))]
        inside = atlas.gamma == nearest
    return Atlas(
        gamma=atlas.gamma[inside],
        C=atlas.C[inside],
        R2=atlas.R2[inside],
        support_vectors=atlas.support_vectors[inside],
        packed=atlas.packed[inside],
        N=atlas.N,
    )


class DataCache:
    """Least recently used datasets and preparations go first once the limit is passed.

    Entries are named by content, so they are never stale.
    """

    def __init__(self, workspace: Workspace, *, limit_bytes: int) -> None:
        self._workspace = workspace
        self._limit = limit_bytes
        self._entries: OrderedDict[tuple[object, ...], tuple[Entry, int]] = OrderedDict()

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

    def lattice(self, claim: Claim, snapshot: Snapshot) -> FittedLattice | None:
        """The dataset's atlas within the session's range of gamma; None until it is complete."""
        if not snapshot.atlas_ready:
            return None
        bounds = snapshot.session.config.gamma_bounds
        key = ("lattice", claim.dataset_id, bounds)
        found = self._get(key)
        if found is None:
            parts = self._workspace.atlas_parts(claim)
            atlas = Atlas.from_parts([Atlas.from_arrays(part) for part in parts])
            if bounds is not None:
                atlas = within(atlas, bounds)
            basis = belief_basis(self.data(claim).X)
            made = FittedLattice(atlas, basis)
            # The unpacked panel is the larger part by far.
            size = basis.kernel.nbytes + atlas.packed.nbytes + 4 * len(atlas) * len(basis.panel)
            found = self._put(key, made, size)
        return cast(FittedLattice, found)

    def _with_bounds(
        self, claim: Claim, made: Preparation, bounds: tuple[float, float]
    ) -> Preparation:
        low, high = made.gamma_bounds
        if low <= bounds[0] and bounds[1] <= high:
            return replace(made, gamma_bounds=bounds)
        # Wider than the stored table of kernel means: this session's own is made here, once.
        return prepare(self.data(claim).X, k=made.K, gamma_bounds=bounds)

    def _get(self, key: tuple[object, ...]) -> Entry | None:
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key][0]

    def _put(self, key: tuple[object, ...], value: Entry, size: int) -> Entry:
        self._entries[key] = (value, size)
        while len(self._entries) > 1 and sum(s for _, s in self._entries.values()) > self._limit:
            self._entries.popitem(last=False)
        return value
