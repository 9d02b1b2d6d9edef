"""Fixtures that open both clients."""

from collections.abc import Iterator

import pytest
from tests.client.flavours import FLAVOURS, Connect, connecting


@pytest.fixture(params=FLAVOURS)
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """A function that opens a client: the blocking one, then the asyncio one."""
    with connecting(request.param) as connected:
        yield connected
