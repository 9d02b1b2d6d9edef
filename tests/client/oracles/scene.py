"""Queries as oracles get them."""

import numpy as np

from svddtune.client import Query


def query(row: int) -> Query:
    return Query(
        number=row + 1,
        observation_id=str(row),
        row=row,
        features=np.zeros(2),
        display={},
        why="",
        score=0.0,
        lease_id="lease",
        lease_expires=None,
    )
