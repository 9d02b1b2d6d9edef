"""What the pictures read of results and of a session's history.

The values themselves are in `svddtune.client.result` and `svddtune.client.types`. Naming only what
is read lets a result have methods that draw it. Each attribute is explained there.
"""

# ruff: noqa: D102

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from svddtune.client.types import DetectorComparison, Interval, Quality


class Score(Protocol):
    """A score, and an interval where there is one."""

    @property
    def value(self) -> float: ...

    @property
    def interval(self) -> Interval | None: ...


class Cost(Protocol):
    """One C of the grid, with the score of its detector."""

    @property
    def C(self) -> float: ...

    @property
    def score(self) -> float: ...


class Aligned(Protocol):
    """The local alignment at one gamma."""

    @property
    def gamma(self) -> float: ...

    @property
    def alignment(self) -> float: ...


class Rule(Protocol):
    """A label-free rule for gamma, scored on the labels."""

    @property
    def name(self) -> str: ...

    @property
    def score(self) -> float: ...


class BaseScaling(Protocol):
    """The part of a manifest that says which representation the alignment is in."""

    @property
    def base_scaling(self) -> str: ...


class Refined(Protocol):
    """The refined detector's comparison with the tuned one."""

    @property
    def comparison(self) -> DetectorComparison | None: ...


class Shown(Protocol):
    """A result."""

    @property
    def scaling(self) -> str: ...

    @property
    def gamma(self) -> float: ...

    @property
    def C(self) -> float: ...

    @property
    def quality(self) -> Quality: ...

    @property
    def choice(self) -> str: ...

    @property
    def c_curve(self) -> Sequence[Cost]: ...

    @property
    def alignment_curve(self) -> Sequence[Aligned]: ...

    @property
    def comparisons(self) -> Sequence[Rule]: ...

    @property
    def manifest(self) -> BaseScaling: ...

    @property
    def refined(self) -> Refined | None: ...


class Point(Protocol):
    """What was live after so many labels."""

    @property
    def labels(self) -> int: ...

    @property
    def gamma(self) -> float: ...

    @property
    def C(self) -> float: ...

    @property
    def scaling(self) -> str: ...

    @property
    def quality(self) -> Score | None: ...
