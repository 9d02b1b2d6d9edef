"""Several labelers, several sessions, corrections: against a real service."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.client.scene import blob
from tests.waiting import wait_until

from svddtune.client import (
    Conflict,
    EmbeddedStack,
    InvalidInput,
    Query,
    Session,
    Tuning,
    TuningClient,
    Verdict,
    WrongState,
)

pytestmark = pytest.mark.integration

X, Y = blob(70)


def session_of(client: TuningClient, **knobs: object) -> Session:
    # Without the atlas, which takes most of the time of a small session.
    return client.create_session(client.upload_dataset(X), **{"strategy": "lama", **knobs})  # type: ignore[arg-type]


def next_of(tuning: Tuning) -> Query:
    query = tuning.next_query(timeout_s=60)
    assert query is not None
    return query


def label_all(tuning: Tuning) -> list[str]:
    """Answer truly until nothing more is asked; return which observations."""
    asked = []
    for query in tuning.queries():
        tuning.answer(query, int(Y[query.row]))
        asked.append(query.observation_id)
    return asked


def test_overlap_asks_two_labelers_about_each_observation(client: TuningClient) -> None:
    session = session_of(client, budget=8, overlap=2, overlap_rule="always")
    assert (session.config.overlap, session.config.overlap_limit) == (2, 3)
    assert session.config.overlap_rule == "always"
    with (
        client.tuning(session, labeler="ann") as ann,
        client.tuning(session, labeler="bob") as bob,
        ThreadPoolExecutor() as both,
    ):
        asked = list(both.map(label_all, (ann, bob)))
    assert sorted(asked[0]) == sorted(asked[1])
    assert len(set(asked[0])) == 8
    done = client.wait_until_completed(session, timeout_s=60)
    assert (done.counts.total, done.awaiting_votes) == (8, 0)
    reports, agreement = client.list_labelers(session)
    assert [(report.labeler, report.asked) for report in reports] == [("ann", 8), ("bob", 8)]
    assert (agreement.observations, agreement.observed) == (8, 1.0)


def test_votes_that_are_awaited_are_counted(client: TuningClient) -> None:
    session = session_of(client, budget=8, overlap=2)
    with client.tuning(session, labeler="ann") as tuning:
        tuning.answer(next_of(tuning), "inlier")
        next_of(tuning)
        assert client.get_session(session).awaiting_votes == 1
    client.cancel_session(session)


def test_labeler_of_two_sessions_serves_the_one_with_priority_first(client: TuningClient) -> None:
    low, high = session_of(client, budget=4), session_of(client, budget=4, priority=10)
    for session in (low, high):  # both have ranked
        with client.tuning(session, labeler="first") as tuning:
            tuning.release(next_of(tuning))
    with client.tuning([low, high], labeler="ann") as tuning:
        order = []
        for query in tuning.queries():
            order.append(query.session)
            ack = tuning.answer(query, int(Y[query.row]))
            assert ack.session == query.session
        assert dict(tuning.finished_sessions) == {
            low.name: "BUDGET_SPENT",
            high.name: "BUDGET_SPENT",
        }
    assert order[0] == high.name
    assert sorted(order) == sorted([low.name] * 4 + [high.name] * 4)


def test_labeler_of_any_session_gets_those_that_are_made_later(client: TuningClient) -> None:
    with client.tuning(labeler="anyone", credit=2) as tuning:
        session = session_of(client, budget=3, priority=100)
        answered = 0
        while answered < 3:
            query = next_of(tuning)
            if query.session == session.name:
                answered += tuning.answer(query, int(Y[query.row])).applied
            else:  # what other tests have left
                tuning.skip(query, "others")
        assert tuning.finished == ""
        assert session.name in tuning.sessions
    assert client.wait_until_completed(session, timeout_s=60).counts.total == 3


def test_answer_is_corrected_and_a_program_that_starts_again_has_no_second_effect(
    client: TuningClient,
) -> None:
    session = session_of(client, budget=5)
    with client.tuning(session, labeler="ann") as tuning:
        query = next_of(tuning)
        first = tuning.answer(query, "inlier", answer_id="ticket-1/1")
        name = query.observation_id
        for _ in range(2):
            again = tuning.label(name, "outlier", replace=True, answer_id="ticket-1/2")
            assert (again.counts.inlier, again.counts.outlier) == (0, 1)
    with client.tuning(session, labeler="ann", credit=0) as tuning:
        assert tuning.label(name, "outlier", replace=True, answer_id="ticket-1/2").applied
        assert tuning.retract(name, answer_id="ticket-1/3").counts.total == 0
    kinds = [(event.kind, event.verdict, event.answer_id) for event in client.labels(session)]
    assert kinds[:2] == [
        ("labeled", Verdict.INLIER, first.answer_id),
        ("labeled", Verdict.OUTLIER, "ticket-1/2"),
    ]
    assert [kind for kind, *_ in kinds] == ["labeled", "labeled", "retracted"]


def test_withdrawal_ends_the_labelers_dialogue_and_is_in_the_log(client: TuningClient) -> None:
    session = session_of(client, budget=6)
    with client.tuning(session, labeler="eve") as tuning:
        tuning.answer(next_of(tuning), "inlier")
        held = next_of(tuning)
        effect = client.withdraw_labeler(session, "eve")
        assert (effect.votes, effect.counts_after.total) == (1, 0)
        wait_until(lambda: bool(tuning.finished))
        assert not tuning.is_open(held)
        assert tuning.lost_reason(held) == "LABELER_WITHDRAWN"
        assert tuning.next_query(timeout_s=60) is None
        assert tuning.finished == "LABELER_WITHDRAWN"
        with pytest.raises(WrongState) as refused:
            tuning.label("1", "inlier")
        assert refused.value.reason == "LABELER_WITHDRAWN"
    assert client.reinstate_labeler(session, "eve").counts_after.total == 1
    assert [event.kind for event in client.labels(session)] == [
        "labeled",
        "withdrawn",
        "reinstated",
    ]


def test_earlier_observation_is_shown_again_and_is_no_vote(client: TuningClient) -> None:
    session = session_of(client, budget=6, repeat_every=2)
    with client.tuning(session, labeler="ann") as tuning:
        asked = label_all(tuning)
    assert len(asked) > len(set(asked)) == 6
    repeated = [event for event in client.labels(session) if event.kind == "repeated"]
    assert len(repeated) == len(asked) - 6
    report = client.list_labelers(session)[0][0]
    assert (report.repeats, report.self_consistency) == (len(repeated), 1.0)


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"overlap": 11}, "overlap"),
        ({"overlap": 3, "overlap_limit": 2}, "overlap_limit"),
        ({"overlap_rule": "often"}, "always, adaptive"),
        ({"aggregation": "mean"}, "majority, dawid_skene"),
        ({"repeat_every": 1001}, "repeat_every"),
        ({"priority": 101}, "priority"),
        ({"overlap": -1}, "overlap"),
    ],
)
def test_invalid_settings_of_votes_are_reported(
    client: TuningClient, knobs: dict[str, object], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        session_of(client, **knobs)


@pytest.mark.parametrize("change", [{"budget": 0}, {"budget": 1000}, {"priority": -101}])
def test_invalid_update_of_a_session_is_reported(
    client: TuningClient, change: dict[str, Any]
) -> None:
    session = session_of(client, budget=6)
    with pytest.raises(InvalidInput):
        client.update_session(session, **change)
    client.cancel_session(session)


def test_dialogue_by_single_calls_is_the_same(stack: EmbeddedStack, client: TuningClient) -> None:
    session = session_of(client, budget=5)
    with client.tuning(session, labeler="ann", stream=False) as tuning:
        assert len(label_all(tuning)) == 5
        assert tuning.result(timeout_s=60).quality.counts.total == 5


def test_session_is_renamed_only_as_the_caller_knows_it(client: TuningClient) -> None:
    # Nothing but the caller changes the etag of a completed session.
    labels = {str(row): int(label) for row, label in enumerate(Y)}
    made = session_of(client, budget=len(Y), initial_labels=labels)
    session = client.wait_until_completed(made, timeout_s=60)
    renamed = client.update_session(session, name="new", labels={"team": "a"}, etag=session.etag)
    assert renamed.display_name == "new"
    with pytest.raises(Conflict) as refused:
        client.update_session(session, name="newer", etag=session.etag)
    assert refused.value.reason == "ETAG_MISMATCH"
