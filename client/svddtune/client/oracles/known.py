"""An oracle with known labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.ids import as_list, by_id, unknown_observation
from svddtune.client.inputs.label_values import verdicts_of
from svddtune.client.oracles.answers import Answer, Command
from svddtune.client.types import Query, SkipMode, Verdict


class KnownLabels:
    """An automated oracle that looks up known labels.

    A query about an observation without a label is dropped; once all labels are given it stops.

    Parameters
    ----------
    labels : array (N,) or mapping
        By row, or by observation id: +1 or "inlier", -1 or "outlier", 0 or missing where it is not
        known. Labels of 0 and 1, booleans and other codes need `outlier_value`.
    outlier_value : optional
        The value that marks an outlier; every other one that is not missing marks an inlier.

    Raises
    ------
    InvalidInput
        LABELS_AMBIGUOUS where the labels may mean either class, OUTLIER_VALUE_UNKNOWN,
        INVALID_LABEL, or CONFLICTING_LABELS for two keys that are one id.
    """

    def __init__(self, labels: Any, *, outlier_value: object = None) -> None:
        self.by_id: dict[str, Verdict] = {}
        self.by_row: dict[int, Verdict] | None = None
        self.row_count: int | None = None
        if isinstance(labels, Mapping):
            given = by_id(labels)
            said = verdicts_of(list(given.values()), outlier_value)
            self.by_id = {key: verdict for key, verdict in zip(given, said, strict=True) if verdict}
        else:
            said = verdicts_of(as_list(labels, "labels"), outlier_value)
            self.by_row = {row: verdict for row, verdict in enumerate(said) if verdict}
            self.row_count = len(said)
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
        """Return verdicts by row for a dataset with these observation ids.

        Parameters
        ----------
        ids : sequence of N str
            In the order of the rows.

        Raises
        ------
        InvalidInput
            UNKNOWN_OBSERVATION: a label is about an observation that the dataset does not have;
            INVALID_FIELD: an array of labels has another length.
        """
        names = list(ids)
        if self.by_row is not None:
            if self.row_count != len(names):
                raise InvalidInput(
                    f"There are {self.row_count} labels for {len(names)} rows: give one label "
                    f"for each row",
                    metadata={"field": "labels", "value": str(self.row_count)},
                )
            return dict(self.by_row)
        rows = {name: row for row, name in enumerate(names)}
        for observation_id in self.by_id:
            if observation_id not in rows:
                raise unknown_observation(observation_id, names)
        return {rows[name]: verdict for name, verdict in sorted(self.by_id.items())}

    def given(self, observation_id: str, row: int) -> None:
        """Note that the service already has an observation's label.

        Parameters
        ----------
        observation_id : str
            As the dataset has it.
        row : int
            Its row, from 0.
        """
        self._left.discard(observation_id if self.by_row is None else row)

    def look_up(self, observation_id: str, row: int) -> Verdict | None:
        """Return an observation's label, None where it is not known.

        Parameters
        ----------
        observation_id : str
            As the dataset has it.
        row : int
            Its row, from 0.
        """
        return self.by_id.get(observation_id) if self.by_row is None else self.by_row.get(row)
