"""A few sessions under faults of every kind; ``make chaos`` plays many more."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.chaos.deployment import deployed
from tests.chaos.faults import STRIKES
from tests.chaos.play import play
from tests.chaos.schedule import KINDS, LOST_DATA, OF_REPLICAS, OF_VERSIONS, schedule

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

# The faults of one session each.
SESSIONS = (
    ("cut_labelers", "cut_store", "half_close_labelers", "half_close_store", "delay_labelers"),
    ("lose_replies_to_labelers", "lose_replies_of_store", "full_memory", "kill_labeler"),
    ("kill_store", "clock_forward", "clock_back", "failover", "full_disk", "delay_store"),
    ("kill_service", "kill_worker", "stop_labeler", "freeze_store", "unreachable_store"),
    ("stop_service", "stop_worker", "stop_workers", "unreachable_service"),
    (LOST_DATA,),
)
# These need several new processes.
RESTARTS = (("restart_service", "restart_worker"), ("kill_workers",))


def play_all(folder: Path, sessions: Sequence[Sequence[str]], *, replicated: bool = False) -> None:
    """Play one session after the other on the same processes."""
    with deployed(folder, replicated=replicated) as deployment:
        for seed, kinds in enumerate(sessions, 1):
            if not deployment.store.has_clock:
                kinds = [kind for kind in kinds if not kind.startswith("clock_")]
            play(deployment, schedule(seed, kinds, strategy="lama"))


@pytest.mark.slow
def test_sessions_hold_what_is_promised_under_faults(tmp_path: Path) -> None:
    play_all(tmp_path, SESSIONS)


@pytest.mark.slow
@pytest.mark.thorough
def test_sessions_hold_what_is_promised_while_processes_are_replaced(tmp_path: Path) -> None:
    play_all(tmp_path, RESTARTS)


@pytest.mark.slow
@pytest.mark.thorough
def test_sessions_hold_what_is_promised_where_the_master_is_lost(tmp_path: Path) -> None:
    kinds = [("lost_master", "stop_replica", "lost_master"), ("kill_store", "lost_master")]
    play_all(tmp_path, kinds, replicated=True)


def test_every_kind_of_fault_is_played() -> None:
    assert sorted(kind for kinds in SESSIONS + RESTARTS for kind in kinds) == sorted(KINDS)
    assert STRIKES.keys() == {*KINDS, *OF_REPLICAS, *OF_VERSIONS}


def test_seed_gives_the_same_schedule_again() -> None:
    assert schedule(7) == schedule(7)
    assert len({str(schedule(seed)) for seed in range(20)}) == 20
