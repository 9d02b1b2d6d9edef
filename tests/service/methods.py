"""Every method of the server, from the descriptors, and random messages for each."""

import base64
import json
import random
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from tests.service.harness import CALL_S

from svddtune.v1 import dataset_pb2, oracle_pb2, scoring_pb2, server_pb2, tuning_pb2

_FILES = (
    dataset_pb2,
    tuning_pb2,
    oracle_pb2,
    scoring_pb2,
    server_pb2,
    health_pb2,
    reflection_pb2,
)

METHODS: tuple[MethodDescriptor, ...] = tuple(
    method
    for file in _FILES
    # (In an order that is the same in every process.)
    for _, service in sorted(file.DESCRIPTOR.services_by_name.items())
    for method in service.methods
)


def path(method: MethodDescriptor) -> str:
    """As gRPC names it."""
    return f"/{method.containing_service.full_name}/{method.name}"


def ask(channel: grpc.Channel, method: MethodDescriptor, *messages: bytes) -> grpc.StatusCode:
    """Send raw messages; the code that the call ends with, OK also for a first response."""
    code, _ = ask_fully(channel, method, *messages)
    return code


def ask_fully(
    channel: grpc.Channel,
    method: MethodDescriptor,
    *messages: bytes,
    until: threading.Event | None = None,
) -> tuple[grpc.StatusCode, grpc.RpcError | None]:
    """As ``ask``, with the error. A client's stream stays open ``until`` an event is set."""

    def said() -> Iterator[bytes]:
        yield from messages
        if until:
            until.wait(CALL_S)

    request: Any = said() if method.client_streaming else messages[0]
    streams = "stream" if method.client_streaming else "unary"
    kind = f"{streams}_{'stream' if method.server_streaming else 'unary'}"
    call = getattr(channel, kind)(path(method))
    try:
        if method.server_streaming:
            responses = call(request, timeout=CALL_S)
            for _ in responses:
                # Watches go on; dialogues end by themselves.
                if not method.client_streaming:
                    responses.cancel()
                    break
        else:
            call(request, timeout=CALL_S)
    except grpc.RpcError as error:
        return error.code(), error
    return grpc.StatusCode.OK, None


def _token(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


# Page and resume tokens that this service never gave.
TOKENS = (
    _token(-1),
    _token(True),
    _token(10**30),
    _token(1.5),
    _token("0-0"),
    _token("99999999999999999999-0"),
    _token("1-99999999999999999999"),
    _token("1", "99999999999999999999-1"),
    _token(10**400, "x"),
    _token(1, "\ud800"),
    _token("\ud800", "1-1"),
    _token([], {}),
    "=",
    "ä",
)


_NAMES = frozenset({"name", "model", "parent", "session", "dataset", "sessions"})


@dataclass
class Garbler:
    """Makes random messages, and spoils valid ones."""

    chance: random.Random
    # Names that exist, beside others.
    texts: Sequence[str] = ()

    def message(self, descriptor: Descriptor, depth: int = 0) -> Message:
        """A message with random fields set to random values."""
        message = GetMessageClass(descriptor)()
        for field in descriptor.fields:
            if depth < 5 and self.chance.random() < 0.7:
                self._fill(message, field, depth)
        return message

    def spoiled(self, data: bytes) -> bytes:
        """Some bytes changed, lost or added."""
        spoiled = bytearray(data)
        for _ in range(self.chance.randint(1, 4)):
            at = self.chance.randint(0, len(spoiled))
            spoiled[at : at + self.chance.randint(0, 2)] = self.chance.randbytes(
                self.chance.randint(0, 2)
            )
        return bytes(spoiled)

    def request(self, method: MethodDescriptor) -> bytes:
        """Bytes for a method: noise, a spoiled message, or a message."""
        kind = self.chance.random()
        if kind < 0.1:
            return self.chance.randbytes(self.chance.randint(0, 200))
        data = self.message(method.input_type).SerializeToString()
        return self.spoiled(data) if kind < 0.4 else data

    def _fill(self, message: Message, field: FieldDescriptor, depth: int) -> None:
        many = field.is_repeated
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields
            for _ in range(2):
                getattr(message, field.name)[self._value(key)] = self._value(value)
        elif field.message_type is not None:
            for _ in range(self.chance.randint(1, 2) if many else 1):
                part = self.message(field.message_type, depth + 1)
                if many:
                    getattr(message, field.name).append(part)
                else:
                    getattr(message, field.name).CopyFrom(part)
        elif many:
            getattr(message, field.name).extend(self._value(field) for _ in range(2))
        else:
            setattr(message, field.name, self._value(field))

    def _value(self, field: FieldDescriptor) -> Any:
        pick = self.chance.choice
        if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
            if field.type == FieldDescriptor.TYPE_BYTES:
                return self.chance.randbytes(pick([0, 1, 8, 16, 100]))
            if field.name.endswith("token") and self.chance.random() < 0.7:
                return pick(TOKENS)
            if field.name in _NAMES and self.chance.random() < 0.7:
                return pick(self.texts)
            return pick([*self.texts, *TOKENS, "", "ann", "1", "x" * 1000, "\x00", "é\u2028", "-"])
        match field.cpp_type:
            case FieldDescriptor.CPPTYPE_BOOL:
                return pick([False, True])
            case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
                return pick([0.0, 1.0, -1.0, 0.01, float("nan"), float("inf"), 1e300])
            case FieldDescriptor.CPPTYPE_ENUM:
                return pick([0, 1, 2, 3, 99])
            case FieldDescriptor.CPPTYPE_INT32:
                return pick([0, 1, 2, -1, 2**31 - 1, -(2**31)])
            case FieldDescriptor.CPPTYPE_INT64:
                return pick([0, 1, -1, 2**63 - 1, -(2**63)])
            case FieldDescriptor.CPPTYPE_UINT64:
                return pick([0, 1, 2**64 - 1])
            case _:
                return pick([0, 1, 2, 12, 2**32 - 1])
