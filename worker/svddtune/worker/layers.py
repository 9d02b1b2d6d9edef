"""The cells of an atlas as layers: by representation, gamma and C."""

from dataclasses import dataclass

import numpy as np

from svddtune.numerics import Atlas, IndexArray
from svddtune.v1 import tuning_pb2
from svddtune.worker.scalings import scaling_kind


@dataclass(frozen=True, slots=True)
class Layers:
    """What labels do not change of them."""

    # With neither scores nor weights.
    message: tuning_pb2.GetAtlasResponse
    # The cell of each place of each layer, row-major; -1 where there is none.
    cells: tuple[IndexArray, ...]


def layers_of(atlas: Atlas) -> Layers:
    """Lay the cells out; a gamma with fewer values of C than others ends in places without cell."""
    message, cells = tuning_pb2.GetAtlasResponse(), []
    for scaling in np.unique(atlas.scaling).tolist():
        gammas = atlas.gammas(scaling)
        columns = [atlas.column(scaling, gamma) for gamma in gammas.tolist()]
        at = np.full((len(gammas), max(map(len, columns))), -1, dtype=np.int64)
        for row, column in enumerate(columns):
            at[row, : len(column)] = column
        flat = at.ravel()
        there = flat >= 0
        message.layers.add(
            scaling=scaling_kind(scaling),
            gammas=gammas,
            costs=np.where(there, atlas.C[flat], 0.0),
            outside_counts=np.where(there, atlas.outliers[flat], 0),
        )
        cells.append(flat)
    return Layers(message, tuple(cells))
