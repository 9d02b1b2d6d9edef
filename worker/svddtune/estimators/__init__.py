"""scikit-learn estimators: an SVDD with given parameters, and one that labels choose them for.

They compute in the calling process with `svddtune.numerics`; no service is involved.
"""

from svddtune.estimators.active import ActiveSVDD
from svddtune.estimators.svdd import SVDD

__all__ = ["SVDD", "ActiveSVDD"]
