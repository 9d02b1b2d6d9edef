"""Any interleaving of up to 50 holders, against the model.

No vote is lost and none has two effects, leases are exclusive, the fold over the log is the state,
and with honest labelers every session ends. ``SVDDTUNE_HISTORIES`` is how many random histories are
played (default 60).
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.properties.histories import Histories
from tests.properties.table import House

pytestmark = pytest.mark.integration

HISTORIES = int(os.environ.get("SVDDTUNE_HISTORIES", "60"))


@pytest.fixture
def house(redis_url: str) -> Iterator[House]:
    opened = House(redis_url)
    yield opened
    opened.close()


@pytest.mark.timeout(0 if HISTORIES > 60 else 120)
def test_every_history_keeps_the_promises(house: House) -> None:
    run_state_machine_as_test(
        lambda: Histories(house),  # type: ignore[arg-type]
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
