"""Messages with enum values of a later version are converted all the same."""

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from svddtune.client import SessionState
from svddtune.client.wire import convert, convert_result
from svddtune.v1 import common_pb2, dataset_pb2, oracle_pb2, result_pb2, tuning_pb2

UNKNOWN = 99


def with_unknown_enums(message: Message, depth: int = 0) -> Message:
    """Set each enum field of a message, and of the messages in it, to an unknown value."""
    for field in message.DESCRIPTOR.fields:
        kind = field.message_type
        if field.type == FieldDescriptor.TYPE_ENUM and field.is_repeated:
            getattr(message, field.name).append(UNKNOWN)
        elif field.type == FieldDescriptor.TYPE_ENUM:
            setattr(message, field.name, UNKNOWN)
        elif kind is not None and kind.full_name.startswith("svddtune.") and depth < 6:
            if field.is_repeated:
                if not kind.GetOptions().map_entry:
                    with_unknown_enums(getattr(message, field.name).add(), depth + 1)
            else:
                part = getattr(message, field.name)
                part.SetInParent()
                with_unknown_enums(part, depth + 1)
    return message


@pytest.mark.parametrize(
    ("message", "convert_one"),
    [
        (tuning_pb2.Session(), convert.session_from_proto),
        (dataset_pb2.Dataset(), convert.dataset_from_proto),
        (oracle_pb2.Assign(), convert.query_from_proto),
        (oracle_pb2.Ack(), convert.ack_from_proto),
        (common_pb2.LabelEvent(), convert.event_from_proto),
        (result_pb2.TuningResult(), convert_result.result_from_proto),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Message) else "",
)
def test_message_with_unknown_enum_values_is_converted(
    message: Message, convert_one: Callable[[Any], object]
) -> None:
    assert convert_one(with_unknown_enums(message)) is not None


def test_unknown_state_of_a_session_is_unknown_and_not_an_end() -> None:
    session = convert.session_from_proto(tuning_pb2.Session(state=UNKNOWN))  # type: ignore[arg-type]
    assert session.state is SessionState.UNKNOWN
    assert not session.state.ended
