"""What every representation promises, as tests."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, ClassVar

import numpy as np

from svddtune.numerics import FloatArray, Representation, fit_own

_SEED = 7
_CLOSE = 1e-9


class RepresentationConformance:
    """The tests; a subclass whose name begins with Test sets `fit`.

    Attributes
    ----------
    fit : FitRepresentation
        As ``staticmethod(function)`` where it is a function.
    affine_invariant : bool
        Whether the representation promises the same rows for columns in other units, that is
        a x + b with a > 0 for each. Default False.
    """

    fit: Any
    affine_invariant: ClassVar[bool] = False

    def test_rows_become_finite_numbers(self) -> None:
        """Also those of odd data, and new rows beyond the range of the fitted ones."""
        for name, X in _datasets().items():
            fitted = self._fitted(X)
            for rows in (X, 3.0 * X + 1.0, np.zeros((1, X.shape[1])), X[:0]):
                found = fitted.apply(rows)
                assert found.ndim == 2, name
                assert found.shape[0] == len(rows), name
                assert found.shape[1] >= 1, name
                assert np.isfinite(found).all(), f"{name}: not finite"

    def test_same_data_give_same_rows(self) -> None:
        """Fitting draws nothing."""
        for name, X in _datasets().items():
            first, again = (self._fitted(X).apply(X) for _ in range(2))
            assert np.array_equal(first, again), name

    def test_data_stay_as_they_are(self) -> None:
        """Neither fitting nor applying changes its argument."""
        for name, X in _datasets().items():
            before = X.copy()
            self._fitted(X).apply(X)
            assert np.array_equal(X, before), name

    def test_row_does_not_depend_on_rows_beside_it(self) -> None:
        """A new row is judged alone as it is among others."""
        for name, X in _datasets().items():
            fitted = self._fitted(X)
            together = fitted.apply(X)
            alone = np.concatenate([fitted.apply(X[row : row + 1]) for row in range(len(X))])
            assert np.allclose(together, alone, rtol=_CLOSE, atol=_CLOSE), name

    def test_equal_rows_stay_equal_and_some_others_differ(self) -> None:
        """Data that have different rows are not mapped to one point."""
        for name, X in _datasets().items():
            found = self._fitted(X).apply(X)
            _, group = np.unique(X, axis=0, return_inverse=True)
            for member in range(group.max() + 1):
                rows = found[group.ravel() == member]
                assert np.allclose(rows, rows[:1], rtol=_CLOSE, atol=_CLOSE), name
            if group.max() > 0:
                assert np.ptp(found, axis=0).max() > _CLOSE, name

    def test_row_far_outside_stays_far(self) -> None:
        """A new row a thousand times as far outside is not nearer than any fitted one."""
        X = _datasets()["normal"]
        fitted = self._fitted(X)
        center = fitted.apply(np.median(X, axis=0, keepdims=True))
        reach = np.linalg.norm(fitted.apply(X) - center, axis=1).max()
        far = fitted.apply(np.median(X, axis=0, keepdims=True) + 1000.0 * np.ptp(X, axis=0))
        assert np.linalg.norm(far - center) >= reach

    def test_units_of_columns_do_not_matter(self) -> None:
        """Where `affine_invariant` promises it."""
        if not self.affine_invariant:
            return
        X = _datasets()["normal"]
        scale = 2.0 ** np.arange(X.shape[1])
        changed = X * scale + 8.0
        assert np.allclose(
            self._fitted(X).apply(X), self._fitted(changed).apply(changed), rtol=1e-6, atol=1e-6
        )

    def _fitted(self, X: FloatArray) -> Representation:
        return fit_own(self.fit, X, "conformance")


@cache
def _datasets() -> dict[str, FloatArray]:
    rng = np.random.default_rng(_SEED)
    normal = rng.normal(size=(60, 3))
    return {
        "one row": np.ones((1, 2)),
        "two rows": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "equal rows": np.full((5, 2), 0.5),
        "normal": normal,
        "mixed units": normal * (1e-6, 1.0, 1e6) + (0.0, 5.0, -1e7),
        "a constant column": np.column_stack((normal[:, 0], np.ones(60))),
        "equal columns": np.column_stack((normal[:, 0], normal[:, 0])),
        "mostly zero": np.where(rng.random((60, 3)) < 0.9, 0.0, normal),
        "few integers": rng.integers(0, 3, size=(60, 4)).astype(np.float64),
        "a heavy tail": rng.standard_cauchy(size=(60, 2)),
        "more columns than rows": rng.normal(size=(4, 9)),
        "large values": normal * math.ldexp(1.0, 60),
    }
