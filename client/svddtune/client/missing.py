"""What counts as no value at all, in any library's spelling."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

_NAMES = frozenset({"NAType", "NaTType", "MaskedConstant"})


def is_missing(value: object) -> bool:
    """Return whether `value` is None, NaN, NaT, pandas' NA or numpy's masked constant."""
    if value is None or type(value).__name__ in _NAMES:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))
