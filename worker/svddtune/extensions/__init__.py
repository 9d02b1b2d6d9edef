"""Query strategies and representations of other packages, found by their entry points.

A package offers a strategy in its pyproject.toml::

    [project.entry-points."svddtune.strategies"]
    farthest = "my_package:farthest"

and a representation in the group "svddtune.representations". See docs/strategies.md.
"""

from svddtune.extensions.registry import (
    REPRESENTATIONS,
    STRATEGIES,
    ExtensionBroken,
    ExtensionMissing,
    installed,
    load_representation,
    load_strategy,
    strategy_named,
    views_named,
)

__all__ = [
    "REPRESENTATIONS",
    "STRATEGIES",
    "ExtensionBroken",
    "ExtensionMissing",
    "installed",
    "load_representation",
    "load_strategy",
    "strategy_named",
    "views_named",
]
