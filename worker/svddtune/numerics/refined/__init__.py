"""Fit the refined detector, and measure it on held-out labels."""

from svddtune.numerics.refined.basis import RefinedBasis, refined_basis
from svddtune.numerics.refined.fit import fit_refined
from svddtune.numerics.refined.heldout import held_out, held_out_cells

__all__ = ["RefinedBasis", "fit_refined", "held_out", "held_out_cells", "refined_basis"]
