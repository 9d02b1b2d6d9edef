"""A fitted model with numpy alone: what it computes, its file, and the messages that carry it.

Client and service share it, so that the same model gives the same figures in both.
"""

from svddtune.fitted.file import read_file, write_file
from svddtune.fitted.messages import matrix_of, parts_of_messages
from svddtune.fitted.model import FittedModel, ModelDamaged

__all__ = [
    "FittedModel",
    "ModelDamaged",
    "matrix_of",
    "parts_of_messages",
    "read_file",
    "write_file",
]
