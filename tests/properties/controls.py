"""A model of control items by the contract in ``protos/svddtune/v1/``, in plain values.

Which query of a labeler is a control item is drawn from the seed. The model says when one may come
and when one must.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import floor

INLIER, UNSURE = 1, 0


@dataclass
class Shown:
    """What a labeler got: all queries, and the control items among them."""

    queries: int = 0
    controls: int = 0


@dataclass
class Controls:
    """The control items of one session."""

    # What they are, by row.
    truth: Mapping[int, int] = field(default_factory=dict)
    share: float = 0.0
    # The rows in the order in which each labeler gets them.
    order: list[int] = field(default_factory=list)
    # Those that the last ranking brought something to show for.
    ready: set[int] = field(default_factory=set)
    shown: dict[str, Shown] = field(default_factory=dict)
    # What each labeler said last, by row.
    said: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def next_of(self, labeler: str) -> int | None:
        """The control item that the labeler has not had and gets next, once it may be shown."""
        had = self.shown.get(labeler, Shown()).controls
        row = self.order[had] if had < len(self.order) else None
        return row if row in self.ready else None

    def may_come(self, labeler: str) -> bool:
        """Whether the next query may be a control item."""
        return self.share > 0 and self._lag(labeler, 1) >= 0

    def must_come(self, labeler: str, *, count: int = 1) -> bool:
        """Whether the next query must be a control item or, with a ``count`` of 0, the last one."""
        return self._lag(labeler, count) > 0 and self.next_of(labeler) is not None

    def _lag(self, labeler: str, further: int) -> int:
        """Control items among all queries and further ones, at least, that did not come yet."""
        shown = self.shown.get(labeler, Shown())
        return floor((shown.queries + further) * self.share) - shown.controls

    def count(self, labeler: str, *, control: bool) -> None:
        """The labeler gets a query."""
        shown = self.shown.setdefault(labeler, Shown())
        shown.queries += 1
        shown.controls += control

    def figures(self, labeler: str) -> tuple[int, int, int, int, float | None]:
        """Counts of answers and right ones, of both those on outliers, and the trust."""
        pairs = [
            (verdict, self.truth[row])
            for row, verdict in self.said.get(labeler, {}).items()
            if verdict != UNSURE
        ]
        right = sum(verdict == truth for verdict, truth in pairs)
        on_outliers = [verdict == truth for verdict, truth in pairs if truth != INLIER]
        trust = (4 + right) / (5 + len(pairs)) if pairs else None
        return len(pairs), right, len(on_outliers), sum(on_outliers), trust
