"""A whole stack on this machine, shared by the tests that need a real service."""

from collections.abc import Iterator

import pytest

from svddtune.client import EmbeddedStack, TuningClient


@pytest.fixture(scope="session")
def stack() -> Iterator[EmbeddedStack]:
    with EmbeddedStack(workers=2) as running:
        yield running


@pytest.fixture
def client(stack: EmbeddedStack) -> Iterator[TuningClient]:
    with TuningClient(stack.address) as connected:
        yield connected
