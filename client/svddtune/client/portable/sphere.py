"""What a fitted SVDD consists of, whatever it is turned into."""

from __future__ import annotations

from typing import Protocol

from svddtune.client.types import FloatArray
from svddtune.representation import Representation


class Sphere(Protocol):
    """The parts of a fitted SVDD; `svddtune.client.SvddModel` has them.

    A raw row x is an inlier where distance2(x) <= threshold, with
    distance2(x) = 1 - 2 sum_i alpha_i k(z_i, z) + center_norm2, z = representation.apply(x) and
    k(z_i, z) = exp(-gamma |z_i - z|^2).
    """

    @property
    def representation(self) -> Representation:
        """How raw rows become what the kernel sees."""
        ...

    @property
    def gamma(self) -> float:
        """Of the kernel, positive."""
        ...

    @property
    def support_vectors(self) -> FloatArray:
        """Represented rows, shape (s, D)."""
        ...

    @property
    def alphas(self) -> FloatArray:
        """Their weights, shape (s,), in sum 1."""
        ...

    @property
    def center_norm2(self) -> float:
        """Squared norm of the centre."""
        ...

    @property
    def threshold(self) -> float:
        """Largest distance2 of an inlier, R2 + tolerance."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Of the M raw columns; empty where they have none."""
        ...
