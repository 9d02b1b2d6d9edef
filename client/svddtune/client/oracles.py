"""Ready oracles. An oracle takes a `Query` and returns a verdict, a `SkipMode` or a `Command`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, TextIO

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.types import FloatArray, Query, SkipMode, Verdict


class Command(Enum):
    """What an oracle may want instead of answering."""

    STOP = "stop"
    """Ask no more; the result comes from the labels there are."""
    UNDO = "undo"
    """Withdraw the last answer and show its observation again."""


Answer = Verdict | SkipMode | Command
Oracle = Callable[[Query], object]


def reply(value: object) -> Answer:
    """Return what an oracle said as an `Answer`; InvalidInput where it is none."""
    if isinstance(value, SkipMode | Command):
        return value
    return Verdict.of(value)


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
        verdict = self._lookup(query.observation_id, query.row)
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

    def _lookup(self, observation_id: str, row: int) -> Verdict | None:
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


class TerminalPrompt:
    """Asks a person at the terminal: i, o, u, s(kip), undo, q(uit).

    Parameters
    ----------
    X : array (N, M), optional
        All rows; with it the card shows the features that are most unusual (robust z-score).
    feature_names : sequence of M strings, optional
    """

    def __init__(
        self,
        X: FloatArray | None = None,
        feature_names: Iterable[str] = (),
        *,
        out: TextIO | None = None,
        read: Callable[[str], str] = input,
        shown: int = 5,
    ) -> None:
        self._names = list(feature_names)
        self._out = out if out is not None else sys.stderr
        self._read = read
        self._shown = shown
        self._center: FloatArray | None = None
        if X is not None:
            self._center = np.median(X, axis=0)
            spread = np.median(np.abs(X - self._center), axis=0) * 1.4826
            self._spread: FloatArray = np.where(spread > 0, spread, np.ptp(X, axis=0) / 6)

    def __call__(self, query: Query) -> Answer:
        """Show the query and return what the person says."""
        print(self.card(query), file=self._out)
        while True:
            try:
                text = self._read("  [i]nlier [o]utlier [u]nsure [s]kip un[d]o [q]uit > ")
            except EOFError:
                return Command.STOP
            answer = _KEYS.get(text.strip().lower())
            if answer is not None:
                return answer
            print(f"  {text.strip()!r} is none of i, o, u, s, undo, q", file=self._out)

    def card(self, query: Query) -> str:
        """Return what is shown of `query`."""
        lines = [f"Query {query.number}: observation {query.observation_id} (row {query.row})"]
        if query.why:
            lines.append(f"  why: {query.why}")
        lines += [f"  {key}: {value}" for key, value in query.display.items()]
        lines += [f"  {text}" for text in self._unusual(query)]
        return "\n".join(lines)

    def _unusual(self, query: Query) -> list[str]:
        values = query.features
        if self._center is None or len(values) != len(self._center):
            return [f"{self._name(j)} = {values[j]:.6g}" for j in range(min(8, len(values)))]
        difference = values - self._center
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(difference == 0, 0.0, difference / self._spread)
        order = np.argsort(-np.abs(z), kind="stable")[: self._shown]
        return [
            f"{self._name(j)} = {values[j]:.6g}  "
            f"({abs(z[j]):.1f} spreads {'above' if z[j] > 0 else 'below'} "
            f"the median {self._center[j]:.6g})"
            if z[j]
            else f"{self._name(j)} = {values[j]:.6g}  (the median)"
            for j in order
        ]

    def _name(self, column: int) -> str:
        return self._names[column] if column < len(self._names) else f"column {column}"


_KEYS: dict[str, Answer] = {
    **dict.fromkeys(("i", "inlier", "+1", "1"), Verdict.INLIER),
    **dict.fromkeys(("o", "outlier", "-1"), Verdict.OUTLIER),
    **dict.fromkeys(("u", "unsure", "?"), Verdict.UNSURE),
    **dict.fromkeys(("s", "skip"), SkipMode.LATER),
    **dict.fromkeys(("d", "undo", "z"), Command.UNDO),
    **dict.fromkeys(("q", "quit"), Command.STOP),
}
