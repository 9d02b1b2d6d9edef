"""Votes that come to no verdict go to an adjudicator, who decides."""

import pytest
from tests.service.drivers import TRANSPORTS, Refused, driver
from tests.service.harness import INLIER, OUTLIER, UNSURE, Harness

from svddtune.v1 import common_pb2, config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
AWAITING = tuning_pb2.STALL_REASON_AWAITING_ADJUDICATION


def conflict(harness: Harness, transport: str = "unary", **config: object) -> str:
    """A session in which ann says inlier and bob outlier; dora is the adjudicator."""
    settings = {"budget": 1, "overlap": 2, "adjudicators": ["dora"]} | config
    name = harness.session(config=Config(**settings)).name  # type: ignore[arg-type]
    for labeler, verdict in (("ann", INLIER), ("bob", OUTLIER)):
        one = driver(harness, transport, name, labeler)
        (assign,) = one.take()
        assert not assign.HasField("adjudication")
        one.answer(assign, verdict)
    return str(name)


def log(harness: Harness, name: str) -> list[common_pb2.LabelEvent]:
    return list(harness.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=name)).events)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_conflict_is_asked_of_the_adjudicator_alone_who_decides(
    harness: Harness, transport: str
) -> None:
    name = conflict(harness, transport)
    assert harness.get(name).awaiting_adjudication == 1
    eve, dora = (driver(harness, transport, name, one) for one in ("eve", "dora"))
    assert eve.take() == []
    (assign,) = dora.take()
    assert assign.adjudication == oracle_pb2.Adjudication(inlier_votes=1, outlier_votes=1)
    ack = dora.answer(assign, OUTLIER)
    assert (ack.counts.inlier, ack.counts.outlier) == (0, 1)
    assert [event.adjudicates for event in log(harness, name)] == [False, False, True]
    assert harness.get(name).awaiting_adjudication == 0
    assert dora.finished() == "BUDGET_SPENT"


def test_unsure_adjudicator_decides_too(harness: Harness) -> None:
    name = conflict(harness, budget=4)
    dora = driver(harness, "unary", name, "dora")
    ack = dora.answer(dora.take()[0], UNSURE)
    assert (ack.counts.total, ack.counts.unsure) == (0, 1)
    assert harness.get(name).awaiting_adjudication == 0


def test_others_answer_in_vain_and_may_settle_it_by_a_correction(harness: Harness) -> None:
    name = conflict(harness, budget=4)
    observation = log(harness, name)[0].observation_id
    with pytest.raises(Refused) as refused:
        driver(harness, "unary", name, "eve").label(observation)
    assert refused.value.reason == "AWAITS_ADJUDICATION"
    dora = driver(harness, "unary", name, "dora")
    assert dora.take()
    driver(harness, "unary", name, "bob").label(observation, INLIER, replace=True)
    session = harness.get(name)
    assert (session.counts.inlier, session.awaiting_adjudication, session.leased_count) == (1, 0, 0)


def test_own_vote_of_an_adjudicator_decides_only_once_it_is_said_again(harness: Harness) -> None:
    name = harness.session(config=Config(budget=1, overlap=2, adjudicators=["ann"])).name
    ann, bob = driver(harness, "unary", name, "ann"), driver(harness, "unary", name, "bob")
    ann.answer(ann.take()[0], INLIER)
    assert bob.answer(bob.take()[0], OUTLIER).counts.total == 0
    (again,) = ann.take()
    assert again.HasField("adjudication")
    ack = ann.answer(again, INLIER)
    # The two votes are a tie still.
    assert (ack.counts.inlier, ack.counts.outlier) == (1, 0)
    (pair,) = harness.tuning.GetAgreement(tuning_pb2.GetAgreementRequest(name=name)).pairs
    assert pair.inlier_outlier == 1


def test_retracted_decision_is_sought_anew(harness: Harness) -> None:
    name = conflict(harness, budget=4)
    dora = driver(harness, "unary", name, "dora")
    (assign,) = dora.take()
    dora.answer(assign, OUTLIER)
    dora.retract(assign.observation_id)
    session = harness.get(name)
    assert (session.counts.total, session.awaiting_adjudication) == (0, 1)
    assert [one.query for one in dora.take()] == [assign.query]


def test_labelers_learn_that_an_adjudicator_is_missing_and_blind_ones_do_not(
    harness: Harness,
) -> None:
    name = conflict(harness)
    harness.worker.queue.sign_in({})
    request = oracle_pb2.LeaseRequest(labeler="eve", session=name)
    assert harness.oracle.Lease(request).session.stall == AWAITING
    blind = conflict(harness, blind=True)
    request = oracle_pb2.LeaseRequest(labeler="eve", session=blind)
    found = harness.oracle.Lease(request).session
    assert (found.stall, found.awaiting_adjudication) == (tuning_pb2.STALL_REASON_UNSPECIFIED, 0)
    with pytest.raises(Refused) as refused:
        driver(harness, "unary", blind, "eve").label(log(harness, blind)[0].observation_id)
    assert refused.value.reason == "ALREADY_ANSWERED"
    (assign,) = driver(harness, "unary", blind, "dora").take()
    assert assign.HasField("adjudication")
    assert assign.adjudication == oracle_pb2.Adjudication()


def test_session_that_starts_from_another_takes_over_what_was_decided(harness: Harness) -> None:
    name = harness.session(config=Config(budget=4, overlap=2, adjudicators=["ann"])).name
    ann, bob = driver(harness, "unary", name, "ann"), driver(harness, "unary", name, "bob")
    ann.answer(ann.take()[0], INLIER)
    bob.answer(bob.take()[0], OUTLIER)
    ann.answer(ann.take()[0], INLIER)
    dataset = harness.get(name).dataset
    again = harness.create(dataset=dataset, from_session=name, config=Config(budget=4))
    assert (again.counts.inlier, again.counts.outlier) == (1, 0)


def test_names_that_no_labeler_has_are_refused(harness: Harness) -> None:
    for wrong in (["a/b"], ["ann", "ann"], [f"l{i}" for i in range(11)]):
        with pytest.raises(Exception, match="adjudicators"):
            harness.session(config=Config(adjudicators=wrong))
