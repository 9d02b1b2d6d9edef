"""Kinds of scaling as the numerics name them, and as messages do."""

from typing import cast

from svddtune.config.words import word_of, words
from svddtune.v1 import dataset_pb2

_ENUM = dataset_pb2.ScalingKind.DESCRIPTOR


def scaling_kind(word: str) -> dataset_pb2.ScalingKind:
    """The enum's value for a word of the numerics, for example "minmax"."""
    return cast("dataset_pb2.ScalingKind", words(_ENUM)[word])


def scaling_word(kind: dataset_pb2.ScalingKind) -> str:
    """Inverse of ``scaling_kind``; "none" for a dataset that was stored without a kind."""
    return word_of(_ENUM, kind or dataset_pb2.SCALING_KIND_NONE)
