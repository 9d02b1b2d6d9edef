"""Cohen's kappa: agreement beyond chance of two raters on two categories.

Scores of classifications, the client's comparison with a known truth and the agreement between
labelers all use this formula. It is 0/0 where both raters put everything into the same category.
What to make of that depends on the use:

- A score ranks models, so it has to be a number: a model that calls everything an inlier, on
  labels that are all inliers, has shown nothing, which is a kappa of 0.
- An agreement is reported to people: two labelers who never differed do not agree by chance alone,
  which a 0 would say. The agreement is not defined, which is NaN.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def cohen_kappa(
    both_a: ArrayLike,
    a_then_b: ArrayLike,
    b_then_a: ArrayLike,
    both_b: ArrayLike,
    *,
    undefined: float = math.nan,
) -> NDArray[np.float64]:
    """Return Cohen's kappa, (p_observed - p_chance) / (1 - p_chance).

    Parameters
    ----------
    both_a, both_b : array, shape (...)
        Subjects that both raters put into category a, and into b. Counts need not be whole numbers:
        expected counts are welcome.
    a_then_b, b_then_a : array, shape (...)
        Subjects that the first rater puts into a and the second into b, and the reverse.
    undefined : float
        Value where kappa is 0/0: NaN for an agreement, 0 for a score.

    Returns
    -------
    array, shape (...)
        In [-1, 1], or `undefined`.
    """
    aa, ab, ba, bb = (np.asarray(count) for count in (both_a, a_then_b, b_then_a, both_b))
    by_chance = (aa + ab) * (ab + bb) + (aa + ba) * (ba + bb)
    one_category = by_chance == 0.0
    kappa = 2.0 * (aa * bb - ab * ba) / np.where(one_category, 1.0, by_chance)
    return np.asarray(np.where(one_category, undefined, kappa), dtype=np.float64)
