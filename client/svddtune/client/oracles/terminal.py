"""An oracle that asks a person at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TextIO

import numpy as np

from svddtune.client.oracles.answers import Answer, Command
from svddtune.client.types import FloatArray, Query, SkipMode, Verdict


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
