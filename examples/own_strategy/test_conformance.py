"""What svddtune wants of a strategy and a representation."""

from svddtune_farthest import farthest, signed_root

from svddtune.conformance import RepresentationConformance, StrategyConformance


class TestFarthest(StrategyConformance):
    strategy = staticmethod(farthest)
    scale_invariant = True


class TestSignedRoot(RepresentationConformance):
    fit = staticmethod(signed_root)
    affine_invariant = True
