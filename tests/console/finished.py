"""Sessions with a result, for the tests of the console."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.numerics.cases import blobs

from svddtune.client import Session, SvddModel, TuningClient


@dataclass(frozen=True)
class Finished:
    """A session with a result, its data and its model."""

    session: Session
    X: Any
    ids: list[str]
    # Row -> whether it is labelled an outlier.
    labels: dict[int, bool]
    model: SvddModel

    @property
    def id(self) -> str:
        """Its id, as addresses of pages have it."""
        return self.session.name.partition("/")[2]

    def distances(self) -> Any:
        """The score of each row: above 0 outside."""
        return -self.model.decision(self.X)


def finish(client: TuningClient, *, seed: int = 0, rows: int = 120, name: str = "") -> Finished:
    """Tune on blobs with twelve known labels."""
    X, truth = blobs(rows, 4, seed=seed)
    outliers, inliers = np.flatnonzero(truth == -1)[:4], np.flatnonzero(truth == 1)[:8]
    labels = {int(row): truth[row] == -1 for row in (*outliers, *inliers)}
    ids = [f"host-{row:03}" for row in range(rows)]
    dataset = client.upload_dataset(
        X,
        name="hosts",
        observation_ids=ids,
        feature_names=["load", "memory", "disk", "net"],
        display=[{"site": f"rack {row % 7}"} for row in range(rows)],
    )
    session = client.create_session(
        dataset,
        name=name or f"hosts {seed}",
        # (The labels spend it, so that the result follows at once.)
        budget=len(labels),
        seed=7,
        initial_labels={ids[row]: -1 if outlier else 1 for row, outlier in labels.items()},
    )
    session = client.wait_until_completed(session)
    return Finished(session, X, ids, labels, client.model(session))
