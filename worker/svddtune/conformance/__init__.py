"""Tests that every query strategy and every representation passes, for pytest.

In a test module of the package that offers them::

    from svddtune.conformance import RepresentationConformance, StrategyConformance

    class TestFarthest(StrategyConformance):
        strategy = staticmethod(farthest)

    class TestLogarithm(RepresentationConformance):
        fit = staticmethod(logarithm)

docs/strategies.md says what is promised.
"""

from svddtune.conformance.representations import RepresentationConformance
from svddtune.conformance.strategies import StrategyConformance, built_in

__all__ = ["RepresentationConformance", "StrategyConformance", "built_in"]
