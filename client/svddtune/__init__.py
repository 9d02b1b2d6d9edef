"""Tune SVDD outlier detectors with a few well-chosen labels.

::

    from svddtune import tune
    result = tune(X, lambda query: ask_somebody(query.features))
    result.gamma, result.C, result.predict(X_new)

The public names are those of ``svddtune.client``, which describes them, and the scikit-learn
estimators of ``svddtune.estimators``. They are loaded on first use, so that ``import svddtune``
costs next to nothing.
"""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Any

# The source tree keeps this package in four folders (protos, service, worker, client). Changed in
# place, since the package's spec holds the same list and tools read it there.
__path__[:] = pkgutil.extend_path(__path__, __name__)

# After the path: this package is complete only then.
from svddtune import client as _client  # noqa: E402
from svddtune.version import __version__  # noqa: E402

if TYPE_CHECKING:
    from svddtune.client import *  # noqa: F403
    from svddtune.estimators import SVDD, ActiveSVDD

_ESTIMATORS = ("SVDD", "ActiveSVDD")

__all__ = ["SVDD", "ActiveSVDD", "__version__"]
__all__ += _client.__all__


if not TYPE_CHECKING:  # so that checkers know which names there are

    def __getattr__(name: str) -> Any:
        if name in _ESTIMATORS:
            from importlib import import_module

            from svddtune.client.extras import needs_package

            with needs_package("svddtune", f"The estimator {name}"):
                estimators = import_module("svddtune.estimators")

            value: Any = getattr(estimators, name)
        elif name in _client.__all__:
            value = getattr(_client, name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
