"""The download of a model in pieces."""

from __future__ import annotations

from collections.abc import Iterable

from svddtune.client.errors import ModelCorrupt
from svddtune.client.model import SvddModel
from svddtune.fitted import ModelDamaged, parts_of_messages
from svddtune.v1 import tuning_pb2


def model_from_stream(messages: Iterable[tuning_pb2.ExportModelResponse]) -> SvddModel:
    """Return the model that the messages hold; ModelCorrupt where a part is missing."""
    try:
        return SvddModel(**parts_of_messages(messages))
    except ModelDamaged as error:
        raise ModelCorrupt(error.message, reason=error.reason) from None
