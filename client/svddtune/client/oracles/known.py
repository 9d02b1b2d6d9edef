"""An oracle that looks labels up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.oracles.answers import Answer, Command
from svddtune.client.types import Query, SkipMode, Verdict


class KnownLabels:
    """An automated oracle that looks verdicts up.

    Parameters
    ----------
    labels : array (N,) or mapping
        +1, -1 and 0 (not known) by row; or verdicts by observation id.

    A query about an observation without a label is dropped; once all labels are given it stops.
    """

    def __init__(self, labels: Any) -> None:
        if isinstance(labels, Mapping):
            self.by_id = {str(key): Verdict.of(value) for key, value in labels.items()}
            self.by_row: dict[int, Verdict] | None = None
            self.row_count: int | None = None
        else:
            array = _label_array(labels)
            self.by_id = {}
            self.by_row = {int(row): Verdict.of(int(array[row])) for row in np.flatnonzero(array)}
            self.row_count = len(array)
        self._left: set[str | int] = set(self.by_id) or set(self.by_row or ())
        self.dropped: list[str] = []

    def __call__(self, query: Query) -> Answer:
        """Return the label of the query's observation."""
        key = query.observation_id if self.by_row is None else query.row
        if not self._left:
            return Command.STOP
        verdict = self.look_up(query.observation_id, query.row)
        if verdict is None:
            self.dropped.append(query.observation_id)
            return SkipMode.DROP
        self._left.discard(key)
        return verdict

    def verdicts(self, ids: Iterable[str]) -> dict[int, Verdict]:
        """Return row -> verdict for a dataset with these observation ids.

        Raises
        ------
        InvalidInput
            UNKNOWN_OBSERVATION for a label of an observation that the dataset has not.
        """
        names = list(ids)
        if self.by_row is not None:
            if self.row_count != len(names):
                raise InvalidInput(
                    f"There are {self.row_count} labels for {len(names)} rows",
                    metadata={"field": "labels", "value": str(self.row_count)},
                )
            return dict(self.by_row)
        rows = {name: row for row, name in enumerate(names)}
        for observation_id in self.by_id:
            if observation_id not in rows:
                raise InvalidInput(
                    f"There is a label for observation {observation_id!r}, "
                    "but no such observation in the data",
                    reason="UNKNOWN_OBSERVATION",
                    metadata={"observation_id": observation_id},
                )
        return {rows[name]: verdict for name, verdict in sorted(self.by_id.items())}

    def given(self, observation_id: str, row: int) -> None:
        """Note that an observation's label is with the service already."""
        self._left.discard(observation_id if self.by_row is None else row)

    def look_up(self, observation_id: str, row: int) -> Verdict | None:
        """Return an observation's label, None where it is not known."""
        return self.by_id.get(observation_id) if self.by_row is None else self.by_row.get(row)


def _label_array(labels: Any) -> np.ndarray[Any, np.dtype[np.int8]]:
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InvalidInput(f"Labels need one dimension, not shape {array.shape}")
    if array.dtype.kind in "OUS":
        words = [0 if str(value) in ("", "0") else Verdict.of(value).sign for value in array]
        return np.array(words, dtype=np.int8)
    values = set(np.unique(array).tolist())
    if array.dtype.kind not in "iuf" or not values <= {-1, 0, 1}:
        raise InvalidInput(
            f"Labels of dtype {array.dtype} with values {sorted(values)[:5]} are not understood: "
            "use +1 for inliers, -1 for outliers, 0 where it is not known",
        )
    if 0 in values and 1 in values and -1 not in values:
        raise InvalidInput(
            "Labels of 0 and 1 may mean either class: use +1 for inliers, -1 for outliers "
            "(0 is 'not known'), or a mapping of observation ids to verdicts",
            reason="LABELS_AMBIGUOUS",
        )
    return array.astype(np.int8)
