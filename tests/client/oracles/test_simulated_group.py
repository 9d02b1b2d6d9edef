"""Simulated labelers at work on a real session."""

from __future__ import annotations

from typing import Any

import pytest
from tests.client.scene import blob

from svddtune.client import (
    InvalidInput,
    NotFound,
    SessionState,
    SimulatedLabeler,
    TuningClient,
    Unavailable,
)
from svddtune.client.oracles.simulated_group import SimulatedGroup
from svddtune.client.types import LabelArray, Session


def labelers(y: LabelArray, count: int, **habits: object) -> list[SimulatedLabeler]:
    return [
        SimulatedLabeler(y, name=f"simulated-{i}", **habits)  # type: ignore[arg-type]
        for i in range(count)
    ]


def start(client: TuningClient, seed: int, **config: Any) -> tuple[Session, LabelArray]:
    X, y = blob(seed)
    # Without the atlas, which takes most of the time of a small session.
    return client.create_session(client.upload_dataset(X), strategy="lama", **config), y


@pytest.mark.slow
@pytest.mark.integration
def test_virtual_time_has_the_order_of_real_time(client: TuningClient) -> None:
    session, y = start(client, 30, budget=12)
    three = labelers(y, 3, delay_s=100.0, cost=2.0)
    group = SimulatedGroup(three)
    counts = list[int]()
    group.label(client, session, on_answer=lambda tuning: counts.append(tuning.counts.total))
    done = client.wait_until_completed(session)
    assert done.counts.total == 12
    # Three at once, each answer in 100 s: four rounds.
    assert group.ended_s == 400.0
    assert [labeler.answers for labeler in three] == [4, 4, 4]
    assert sum(labeler.cost for labeler in three) == 24.0
    assert max(counts) == 12
    assert not group.stalled
    reports, _ = client.list_labelers(session)
    assert [report.votes.total for report in reports] == [4, 4, 4]


@pytest.mark.integration
def test_slow_labeler_does_not_delay_others(client: TuningClient) -> None:
    session, y = start(client, 31, budget=10)
    quick = SimulatedLabeler(y, name="quick", delay_s=10.0)
    slow = SimulatedLabeler(y, name="slow", delay_s=45.0)
    group = SimulatedGroup([quick, slow])
    group.label(client, session)
    # The last of ten is with the slow one from second 45 on.
    assert (quick.answers, slow.answers) == (8, 2)
    assert group.ended_s == 90.0


@pytest.mark.integration
def test_observation_passed_on_by_all_labelers_is_dropped(client: TuningClient) -> None:
    session, y = start(client, 32, budget=8)
    two = labelers(y, 2, pass_on=0.6, seed=2)
    SimulatedGroup(two).label(client, session)
    done = client.wait_until_completed(session)
    assert done.counts.total == 8
    assert all(labeler.passed_on for labeler in two)


@pytest.mark.integration
def test_session_that_awaits_impossible_votes_is_finished(client: TuningClient) -> None:
    session, y = start(client, 33, budget=4, overlap=2, overlap_limit=2)
    two = [SimulatedLabeler(y, name="votes"), SimulatedLabeler(y, name="never", pass_on=1.0)]
    group = SimulatedGroup(two)
    group.label(client, session)
    assert group.stalled
    assert client.wait_until_completed(session).state is SessionState.COMPLETED


@pytest.mark.integration
def test_real_time_is_real(client: TuningClient) -> None:
    session, y = start(client, 34, budget=4)
    one = labelers(y, 1, delay_s=0.1)
    group = SimulatedGroup(one, real_time=True)
    group.label(client, session)
    assert group.ended_s >= 0.4


@pytest.mark.integration
def test_error_of_a_dialogue_is_raised_to_the_caller(client: TuningClient) -> None:
    session, y = start(client, 35, budget=5)
    client.cancel_session(session)
    client.delete_session(session)
    with pytest.raises(NotFound):
        SimulatedGroup(labelers(y, 2)).label(client, session)
    with TuningClient("127.0.0.1:1", timeout_s=0.5) as away, pytest.raises(Unavailable):
        SimulatedGroup(labelers(y, 2)).label(away, session)


@pytest.mark.integration
def test_error_of_a_labeler_ends_the_run(client: TuningClient) -> None:
    session, y = start(client, 36, budget=5)

    class Faulty(SimulatedLabeler):
        def __call__(self, query: object) -> object:  # type: ignore[override]
            raise ZeroDivisionError(str(query))

    two = [SimulatedLabeler(y, name="fine", delay_s=1.0), Faulty(y, name="faulty")]
    with pytest.raises(ZeroDivisionError):
        SimulatedGroup(two).label(client, session)
    client.cancel_session(session)


def test_names_must_differ() -> None:
    with pytest.raises(
        InvalidInput,
        match="each a different name; the names are: simulated, simulated",
    ):
        SimulatedGroup([SimulatedLabeler([1]), SimulatedLabeler([1])])
    with pytest.raises(InvalidInput, match="the names are: none"):
        SimulatedGroup([])
