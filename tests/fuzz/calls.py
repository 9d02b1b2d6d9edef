"""Random and spoiled messages for every method of a running service."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import grpc
from google.protobuf.descriptor import MethodDescriptor
from tests.service.harness import Harness
from tests.service.methods import METHODS, Garbler, ask_fully, path

from svddtune.v1 import oracle_pb2

# Codes that no request may cause.
BROKEN = {grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE}
# A fresh session after so many calls: earlier ones may have been cancelled or deleted.
_CALLS_A_SESSION = 100


@dataclass(frozen=True)
class Call:
    """One call: what was sent, and how it ended."""

    method: str
    messages: list[bytes]
    code: grpc.StatusCode
    error: grpc.RpcError | None


def random_calls(
    channel: grpc.Channel, harness: Harness, *, seed: int, runs: int
) -> Iterator[Call]:
    """Call all methods in turn."""
    chance = random.Random(seed)
    for turn in range(runs):
        if turn % _CALLS_A_SESSION == 0:
            session = harness.session()
            texts = (session.name, session.dataset, f"{session.name}/results/-")
            garbler = Garbler(chance, texts)
        method = METHODS[turn % len(METHODS)]
        messages = [garbler.request(method)]
        if method.client_streaming:
            more = [garbler.request(method) for _ in range(chance.randint(0, 3))]
            messages = [*_begun(session.name, method), *more]
        code, error = ask_fully(channel, method, *messages)
        yield Call(path(method), messages, code, error)


def _begun(session: str, method: MethodDescriptor) -> list[bytes]:
    """What a stream must begin with."""
    if method.name != "Converse":
        return []
    hello = oracle_pb2.Hello(min_protocol_version=1, labeler="ann", sessions=[session], credit=1)
    return [oracle_pb2.ConverseRequest(hello=hello).SerializeToString()]
