"""A stack for the examples, and their folder on the path."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svddtune.client import EmbeddedStack, TuningClient

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))


@pytest.fixture(scope="session")
def stack() -> Iterator[EmbeddedStack]:
    with EmbeddedStack(workers=1) as running:
        yield running


@pytest.fixture
def client(stack: EmbeddedStack) -> Iterator[TuningClient]:
    with TuningClient(stack.address) as connected:
        yield connected
