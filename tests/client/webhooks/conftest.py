"""Fixtures of the webhooks: one service for all tests, and a receiver."""

from collections.abc import Iterator

import pytest
from tests.client.webhooks.receiver import Receiver, receiving
from tests.e2e.processes import deployment

from svddtune.client import TuningClient


@pytest.fixture
def service(redis_url: str) -> Iterator[str]:
    with deployment(redis_url) as address:
        yield address


@pytest.fixture
def client(service: str) -> Iterator[TuningClient]:
    with TuningClient(service) as connected:
        yield connected


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found
