"""The range of gamma that a caller may name."""

from __future__ import annotations

import math
from typing import Any

from svddtune.client.errors import InvalidInput


def gamma_range(bounds: Any) -> tuple[float, float]:
    """Least and largest gamma of ``(low, high)``; (0, 0) for None: the range follows the data.

    Raises InvalidInput (INVALID_FIELD) unless 0 < low < high and both are finite.
    """
    if bounds is None:
        return 0.0, 0.0
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0.0 < low < high < math.inf:
        raise InvalidInput(
            f"gamma_bounds = {bounds!r}: expected two finite numbers (low, high), 0 < low < high",
            reason="INVALID_FIELD",
            metadata={"field": "gamma_bounds", "value": str(bounds)},
        )
    return low, high
