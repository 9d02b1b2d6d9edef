"""The refined detector: what the labels say where they speak, and how unusual a row is elsewhere.

It stands beside the tuned SVDD. All of it is arrays, evaluated by numpy alone, by worker and client
alike: the same file gives the same numbers everywhere.
"""

from svddtune.refined.detector import RefinedDetector
from svddtune.refined.members import KernelMember, LinearMember
from svddtune.refined.novelty import NeighborScore, Novelty
from svddtune.refined.trees import Trees

__all__ = [
    "KernelMember",
    "LinearMember",
    "NeighborScore",
    "Novelty",
    "RefinedDetector",
    "Trees",
]
