"""``docs/protocol.md`` names messages, fields and enum values that exist."""

import re
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor

from svddtune.v1 import oracle_pb2

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
FILE = oracle_pb2.DESCRIPTOR
CONTRACT = (Path(__file__).parents[2] / "protos" / "svddtune" / "v1" / "oracle.proto").read_text()
PROSE = re.sub(r"^```.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
NAMES = sorted(set(re.findall(r"`([A-Za-z_]+(?:\.[A-Za-z_]+)?)`", PROSE)))
# Of other packages and of the client in Python.
ELSEWHERE = {"RetryInfo", "Tuning", "UNAVAILABLE"}


def exists(name: str) -> bool:
    """Whether the contract has a message, a field, a call or a word of that name."""
    first, _, second = name.partition(".")
    message: Descriptor | None = FILE.message_types_by_name.get(first)
    if second:
        service = FILE.services_by_name.get(first)
        return bool(
            (message and second in message.fields_by_name)
            or (service and second in service.methods_by_name)
        )
    return re.search(rf"\b{name}\b", CONTRACT) is not None


@pytest.mark.parametrize("name", sorted(set(NAMES) - ELSEWHERE))
def test_name_on_the_page_is_of_the_contract(name: str) -> None:
    assert exists(name)


@pytest.mark.parametrize("name", ["Hello.no_such_field", "NoSuchMessage", "Converse.hello"])
def test_unknown_name_is_noticed(name: str) -> None:
    assert not exists(name)


def test_page_explains_every_item_of_the_dialogue() -> None:
    for message in (oracle_pb2.ConverseRequest, oracle_pb2.ConverseResponse):
        for item in message.DESCRIPTOR.oneofs_by_name["message"].fields:
            assert re.search(rf"\b{item.name}\b", PAGE, re.IGNORECASE), item.name
