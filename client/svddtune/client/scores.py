"""The one score that the client computes itself: Cohen's kappa against a known truth."""

from __future__ import annotations

from typing import Any

import numpy as np


def cohen_kappa(truth: Any, predicted: Any) -> float:
    """Return Cohen's kappa of two vectors of +1 and -1; 0 where it is 0/0.

    1 is perfect agreement, 0 is what chance gives.
    """
    a, b = np.asarray(truth) > 0, np.asarray(predicted) > 0
    agreement = float(np.mean(a == b))
    chance = float(a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean()))
    return 0.0 if chance >= 1 else (agreement - chance) / (1 - chance)
