"""The kinds of import contracts, checked over all source roots, the evaluation's included.

lint-imports looks for modules where the package's spec says, and before the package is imported
its spec names only the root that holds ``__init__.py``. So these contracts make the graph anew.
"""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import grimp
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

import svddtune

ROOTS = ("protos", "service", "worker", "client", "evaluation")


@cache
def _graph() -> grimp.ImportGraph:
    folder = Path(__file__).parent.parent
    svddtune.__path__[:] = [str(folder / root / "svddtune") for root in ROOTS]
    return grimp.build_graph("svddtune", include_external_packages=True, cache_dir=None)


def _copy() -> grimp.ImportGraph:
    """Return a graph of its own for one contract: ignored imports are removed from it."""
    return deepcopy(_graph())


class Forbidden(ForbiddenContract):
    """Modules that others must not import."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> Any:
        """Check the graph of all source roots instead of the one given."""
        return super().check(_copy(), verbose)


class Layers(LayersContract):
    """Layers that import downwards only."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> Any:
        """Check the graph of all source roots instead of the one given."""
        return super().check(_copy(), verbose)


class Acyclic(AcyclicSiblingsContract):
    """Modules and packages side by side that do not import each other in a circle."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> Any:
        """Check the graph of all source roots instead of the one given."""
        return super().check(_copy(), verbose)
