"""A store whose disk is full ends, and has all that it acknowledged when it starts again."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis.exceptions
from tests.chaos.deployment import Store
from tests.waiting import wait_until

pytestmark = pytest.mark.integration


@pytest.fixture(params=["small disk", "limit"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    may_mount = request.param == "small disk"
    with closing(Store(tmp_path, may_mount=may_mount)) as store:
        if may_mount and not store.has_small_disk:
            pytest.skip("this process may not mount")
        yield store


def test_store_on_a_full_disk_ends_and_keeps_what_it_acknowledged(store: Store) -> None:
    written, refused = 0, False
    with store.direct() as client, store.full_disk():
        while not refused:
            try:
                client.rpush("list", f"{written:0500}")
                written += 1
            except redis.exceptions.RedisError:
                refused = True
        wait_until(lambda: store.server.process.poll() is not None)
    # (A page that is not full takes some more.)
    assert written < 20
    store.start_again()
    with store.direct() as client:
        kept = client.lrange("list", 0, -1)
        assert [int(one) for one in kept[:written]] == list(range(written))
        client.rpush("list", "more")
