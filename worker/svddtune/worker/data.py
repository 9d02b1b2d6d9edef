"""A worker's cache of datasets, preparations and atlases."""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from svddtune.numerics import (
    Atlas,
    BeliefBasis,
    FloatArray,
    IndexArray,
    Plane,
    Preparation,
    Rows,
    Spread,
    Survey,
    UnevenColumns,
    Views,
    belief_basis,
    cell_model,
    judged,
    plane_of,
    spread_of,
    uneven_columns,
)
from svddtune.numerics.mapped import SAMPLED_ABOVE
from svddtune.numerics.refined import RefinedBasis, refined_basis
from svddtune.numerics.svdd import SvddModel
from svddtune.state.jobs import of_panel
from svddtune.state.queue import Claim
from svddtune.state.workspace import Snapshot, Workspace
from svddtune.v1 import dataset_pb2
from svddtune.worker.layers import Layers, layers_of
from svddtune.worker.scalings import scaling_word

# Rows up to which all are measured where columns are described; of more a uniform sample.
MEASURED_ROWS = 100_000
# Rows of the map: all of up to MAP_ROWS, of more a uniform sample, beside which labelled rows are
# shown, at most MAP_LABELLED.
MAP_ROWS = 2000
MAP_SAMPLE = 1500
MAP_LABELLED = 2500


@dataclass(frozen=True, eq=False)
class Data:
    """A dataset as the method sees it."""

    description: dataset_pb2.Dataset
    views: Views

    @property
    def raw(self) -> FloatArray:
        """Rows as they were uploaded."""
        return self.views.raw

    @property
    def X(self) -> Rows:
        """Rows in the base representation."""
        return self.views.rows(self.views.base)

    @cached_property
    def spread(self) -> Spread:
        """Where the raw values lie: those of all rows, or of a uniform sample."""
        return spread_of(self.raw[self._measured])

    @cached_property
    def map_rows(self) -> IndexArray:
        """Rows that every map of the dataset shows, ascending."""
        N = len(self.raw)
        if N <= MAP_ROWS:
            return np.arange(N)
        return np.sort(np.random.default_rng(0).choice(N, MAP_SAMPLE, replace=False))

    @cached_property
    def plane(self) -> Plane:
        """What gives rows their place on the map."""
        return plane_of(self.raw[self.map_rows])

    @cached_property
    def refined_basis(self) -> RefinedBasis:
        """What the refined detector needs of the dataset."""
        return refined_basis(self.views)

    @cached_property
    def survey(self) -> Survey | None:
        """Scores of the rows without labels; None where all rows are in the panel."""
        return self.refined_basis.survey(self.raw)

    @cached_property
    def uneven(self) -> UnevenColumns | None:
        """Columns of very different spread in the base representation."""
        return uneven_columns(self.X[self._measured])

    @property
    def _measured(self) -> slice | IndexArray:
        N = len(self.raw)
        if N <= MEASURED_ROWS:
            return slice(None)
        return np.sort(np.random.default_rng(0).choice(N, MEASURED_ROWS, replace=False))


@dataclass(frozen=True, eq=False)
class FittedLattice:
    """A complete atlas with what is used beside it."""

    atlas: Atlas
    basis: BeliefBasis
    # The cell that was asked for last, and its model.
    _fitted: dict[int, SvddModel] = field(default_factory=dict)

    @cached_property
    def layers(self) -> Layers:
        """Its cells in the order in which people see them."""
        return layers_of(self.atlas)

    def model_of(self, cell: int, data: Data) -> SvddModel:
        """The model of a cell; that of the last one is kept."""
        if cell not in self._fitted:
            model = cell_model(self.atlas, cell, data.views)
            self._fitted.clear()
            self._fitted[cell] = model
        return self._fitted[cell]


# What an entry needs at least, however small its dataset: the objects of hundreds of cells.
_LEAST_BYTES = 1 << 18

Entry = Data | Preparation | FittedLattice
# What it is, prefix and id of its dataset, and what distinguishes it from others of the dataset.
_Key = tuple[str, str, str, *tuple[object, ...]]


class DataCache:
    """Drops the least recently used entries above its size limit, and those of deleted datasets.

    Entries are named by content, so they are never stale. Whether their datasets still exist is
    asked when another dataset is loaded.
    """

    def __init__(self, workspace: Workspace, *, limit_bytes: int) -> None:
        self._workspace = workspace
        self._limit = limit_bytes
        self._entries: OrderedDict[_Key, tuple[Entry, int]] = OrderedDict()

    def data(self, claim: Claim) -> Data:
        """The job's dataset. Raises NotFound where it was deleted."""
        key = ("data", claim.prefix, claim.dataset_id)
        found = self._get(key)
        if found is None:
            self._drop_deleted()
            description, raw = self._workspace.dataset(claim)
            views = Views(raw, scaling_word(description.scaling))
            # Beside the rows as they are: the base representation, the belief's, and one other.
            copies = 2 if len(views.kinds) == 1 else 4
            size = raw.nbytes * (1 if len(raw) > SAMPLED_ABOVE else copies)
            found = self._put(key, Data(description, views), size)
        return cast(Data, found)

    def preparation(self, claim: Claim, snapshot: Snapshot) -> Preparation:
        """The preparation for the session's locality and range of gamma."""
        session, k = snapshot.session, snapshot.prep_k
        bounds = session.config.gamma_bounds
        panel = of_panel(session.config, session.observation_count)
        key = ("preparation", claim.prefix, claim.dataset_id, k, bounds, panel)
        found = self._get(key)
        if found is None:
            arrays = self._workspace.preparation(claim, k, bounds, panel=panel)
            made = Preparation.from_arrays(arrays)
            found = self._put(key, made, made.nn.nbytes + made.row_means.nbytes)
        return cast(Preparation, found)

    def lattice(self, claim: Claim, snapshot: Snapshot) -> FittedLattice | None:
        """The atlas over the session's range of gamma; None until it is complete."""
        if not snapshot.atlas_ready:
            return None
        bounds = snapshot.session.config.gamma_bounds
        key = ("lattice", claim.prefix, claim.dataset_id, bounds)
        found = self._get(key)
        if found is None:
            parts = self._workspace.atlas_parts(claim, bounds)
            views = self.data(claim).views
            survey = self.data(claim).survey
            atlas = judged(Atlas.from_parts([Atlas.from_arrays(part) for part in parts]), views)
            if survey is not None:
                atlas = atlas.on(survey.panel)
            basis = belief_basis(views.rows(views.belief), survey=survey)
            made = FittedLattice(atlas, basis)
            # The unpacked panel is the larger part by far.
            size = basis.kernel.nbytes + atlas.packed.nbytes + 4 * len(atlas) * len(basis.panel)
            size += 0 if atlas.models is None else atlas.models.alphas.nbytes
            size += 0 if survey is None else survey.features.nbytes
            found = self._put(key, made, size)
        return cast(FittedLattice, found)

    def _drop_deleted(self) -> None:
        kept = list(dict.fromkeys(key[1:3] for key in self._entries))
        exist = dict(zip(kept, self._workspace.datasets_exist(kept), strict=True))
        for key in [key for key in self._entries if not exist[key[1:3]]]:
            del self._entries[key]

    def __contains__(self, dataset_id: object) -> bool:
        return any(key[2] == dataset_id for key in self._entries)

    def _get(self, key: _Key) -> Entry | None:
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key][0]

    def _put(self, key: _Key, value: Entry, size: int) -> Entry:
        self._entries[key] = (value, max(size, _LEAST_BYTES))
        while len(self._entries) > 1 and sum(s for _, s in self._entries.values()) > self._limit:
            self._entries.popitem(last=False)
        return value
