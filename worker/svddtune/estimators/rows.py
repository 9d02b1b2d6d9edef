"""Rows that callers pass to an estimator: checked, and frames matched by the names of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.frames import as_frame
from svddtune.client.inputs.validate import check_finite, check_magnitude
from svddtune.numerics import FloatArray

_LARGEST_SEED = 2**31


def read_rows(estimator: BaseEstimator, X: Any, *, fitting: bool) -> FloatArray:
    """Return X as doubles; sets `n_features_in_` and `feature_names_in_` while fitting.

    Parameters
    ----------
    estimator : BaseEstimator
        That the rows are for.
    X : array-like or frame (n, M)
        A frame with the columns that the estimator was fitted on is matched by their names, in
        any order.
    fitting : bool
        Whether the estimator learns its columns from these rows.

    Returns
    -------
    FloatArray, shape (n, M)

    Raises
    ------
    ValueError
        The columns are not those of the fit, or a value is no finite number; the message names its
        row and column; or its magnitude exceeds 1e100.
    """
    if not fitting:
        X = _in_order(X, getattr(estimator, "feature_names_in_", None))
    rows: FloatArray = validate_data(
        estimator, X, reset=fitting, dtype=np.float64, ensure_all_finite=False
    )
    names = getattr(estimator, "feature_names_in_", ())
    if not np.isfinite(rows).all():
        try:
            check_finite(rows, names)
        except InvalidInput as error:
            # scikit-learn's users, and its checks, look for these words.
            raise InvalidInput(
                f"Input X contains NaN or infinity. {error.message}",
                reason=error.reason,
                metadata=error.metadata,
            ) from None
    check_magnitude(rows, names)
    return rows


def _in_order(X: Any, names: Any) -> Any:
    """Return a frame that has exactly the columns `names` in their order; other data as they are.

    scikit-learn then reports columns that are missing, or too many.
    """
    if names is None:
        return X
    frame = as_frame(X)
    if frame is None or len(frame.columns) != len(names) or set(frame.columns) != set(names):
        return X
    return frame.select(*names).to_native()


def seed_of(random_state: Any) -> int:
    """Return the seed that a `random_state` stands for: None is 0, an integer is itself."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(_LARGEST_SEED))
