"""Several labelers on one observation: overlap, corrections, withdrawal, what is reported."""

import pytest
from tests.service.drivers import TRANSPORTS, Refused, driver
from tests.service.harness import INLIER, OUTLIER, UNSURE, Harness, N, chunk, grid, header, refusal
from tests.service.support import error_info, reason_of, status_of

from svddtune.v1 import common_pb2, config_pb2, dataset_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
Ack = oracle_pb2.Ack
Kind = common_pb2.LabelEvent.Kind


def events(harness: Harness, name: str) -> list[common_pb2.LabelEvent]:
    return list(harness.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=name)).events)


def report(harness: Harness, name: str) -> tuning_pb2.ListLabelersResponse:
    return harness.tuning.ListLabelers(tuning_pb2.ListLabelersRequest(name=name))


def withdraw(
    harness: Harness, name: str, labeler: str, validate_only: bool = False
) -> tuning_pb2.WithdrawLabelerResponse:
    return harness.tuning.WithdrawLabeler(
        tuning_pb2.WithdrawLabelerRequest(name=name, labeler=labeler, validate_only=validate_only)
    )


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_overlap_of_two_asks_two_labelers_about_one_observation(
    harness: Harness, transport: str
) -> None:
    name = harness.session(config=Config(budget=1, overlap=2)).name
    ann, bob, eve = (driver(harness, transport, name, one) for one in ("ann", "bob", "eve"))
    (first,), (second,) = ann.take(), bob.take()
    assert (first.query, first.row) == (second.query, second.row)
    assert first.lease_id != second.lease_id
    # Never twice to the same one, and to no more than two.
    assert ann.take(2) == [first]
    assert eve.take() == []
    ann.answer(first)
    session = harness.get(name)
    assert (session.counts.total, session.awaiting_votes) == (1, 1)
    assert bob.answer(second).disposition == Ack.DISPOSITION_APPLIED
    assert ann.finished() == "BUDGET_SPENT"
    assert [event.labeler for event in events(harness, name)] == ["ann", "bob"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_tie_asks_one_more_labeler_and_a_further_vote_is_unused(
    harness: Harness, transport: str
) -> None:
    name = harness.session(config=Config(budget=2, overlap=2, overlap_limit=3)).name
    ann, bob, eve = (driver(harness, transport, name, one) for one in ("ann", "bob", "eve"))
    ann.answer(ann.take()[0], INLIER)
    assert bob.answer(bob.take()[0], OUTLIER).counts.total == 0
    (third,) = eve.take()
    assert third.query == 1
    ack = eve.answer(third, OUTLIER)
    assert (ack.counts.inlier, ack.counts.outlier) == (0, 1)
    with pytest.raises(Refused) as refused:
        driver(harness, transport, name, "max").label(third.observation_id)
    assert refused.value.reason == "ALREADY_ANSWERED"


def test_two_streams_share_the_queries_of_an_overlap(harness: Harness) -> None:
    name = harness.session(config=Config(budget=3, overlap=2)).name
    streams = [harness.labeler(name, one) for one in ("ann", "bob")]
    asked: dict[int, list[int]] = {}
    for turn in range(3):
        for number, stream in enumerate(streams):
            assign = stream.expect("assign")
            asked.setdefault(assign.query, []).append(number)
            stream.answer(assign, OUTLIER if turn == 0 else INLIER)
            assert stream.expect("ack").disposition == Ack.DISPOSITION_APPLIED
            harness.worker.work_off()
    # Who is the first to get a query is open.
    assert {query: sorted(by) for query, by in asked.items()} == {n: [0, 1] for n in (1, 2, 3)}
    spent = oracle_pb2.FINISH_REASON_BUDGET_SPENT
    assert [stream.expect("finished").reason for stream in streams] == [spent] * 2
    done = harness.get(name)
    assert (done.counts.inlier, done.counts.outlier, done.awaiting_votes) == (2, 1, 0)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_correction_replaces_the_labelers_own_vote(harness: Harness, transport: str) -> None:
    name = harness.session().name
    ann = driver(harness, transport, name)
    (assign,) = ann.take()
    ann.answer(assign, INLIER)
    with pytest.raises(Refused) as refused:
        ann.label(assign.observation_id, OUTLIER)
    assert refused.value.reason == "ALREADY_ANSWERED"
    ack = ann.label(assign.observation_id, OUTLIER, replace=True)
    assert ack.disposition == Ack.DISPOSITION_APPLIED
    assert (ack.counts.inlier, ack.counts.outlier) == (0, 1)
    # Without an earlier vote it is a first one.
    assert ann.label("11", UNSURE, replace=True).counts.unsure == 1
    assert [event.kind for event in events(harness, name)] == [Kind.KIND_LABELED] * 3


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_vote_of_another_labeler_may_be_retracted(harness: Harness, transport: str) -> None:
    name = harness.session(config=Config(budget=2)).name
    ann, bob = driver(harness, transport, name, "ann"), driver(harness, transport, name, "bob")
    (assign,) = bob.take()
    bob.answer(assign)
    with pytest.raises(Refused) as refused:
        ann.retract(assign.observation_id)
    assert refused.value.reason == "NOT_LABELED"
    ack = ann.retract(assign.observation_id, of_labeler="bob")
    assert ack.counts.total == 0
    event = events(harness, name)[-1]
    assert (event.kind, event.labeler) == (Kind.KIND_RETRACTED, "bob")
    assert "ann" in event.source_reference
    harness.worker.work_off()
    # The query is open again, and bob, whose vote is gone, may be asked as well.
    assert [one.query for one in bob.wait()] == [assign.query]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_repeated_observation_counts_no_vote(harness: Harness, transport: str) -> None:
    name = harness.session(config=Config(budget=3, repeat_every=1)).name
    ann = driver(harness, transport, name)
    (first,) = ann.take()
    ann.answer(first, INLIER)
    harness.worker.work_off()
    (again,) = ann.wait()
    assert again.row == first.row
    assert again.query != first.query
    # The repeat shows nothing that was computed: the first answer would be among it.
    assert again.explanation == oracle_pb2.Explanation(why=again.explanation.why)
    assert "again" in again.explanation.why
    ack = ann.answer(again, OUTLIER)
    assert (ack.counts.inlier, ack.counts.outlier) == (1, 0)
    assert events(harness, name)[-1].kind == Kind.KIND_REPEATED
    (figures,) = report(harness, name).labelers
    assert (figures.repeats, figures.self_consistency) == (1, 0.0)


def test_labelers_are_reported(harness: Harness) -> None:
    name = harness.session(config=Config(budget=4, overlap=2)).name
    ann, bob = driver(harness, "unary", name, "ann"), driver(harness, "unary", name, "bob")
    for verdict in (INLIER, OUTLIER):
        ann.answer(ann.take()[0], verdict)
        bob.answer(bob.take()[0], INLIER)
        harness.worker.work_off()
    ann.label("11")
    bob.label("10", UNSURE)
    bob.retract("10")
    response = report(harness, name)
    one, other = response.labelers
    assert (one.labeler, other.labeler) == ("ann", "bob")
    assert (one.votes.inlier, one.votes.outlier, one.votes.unsure) == (2, 1, 0)
    assert (one.asked, one.unasked, one.unused, one.retracted) == (2, 1, 0, 0)
    assert (other.asked, other.unasked, other.retracted) == (2, 1, 1)
    assert (one.compared, one.agreement) == (2, 0.5)
    assert 0 < one.median_answer_seconds < 10
    assert not one.HasField("self_consistency")
    assert one.last_answer_time.ToMilliseconds() > 0
    assert (response.agreement.observations, response.agreement.observed) == (2, 0.5)
    assert response.agreement.cohen_kappa == pytest.approx(0.0)


def test_withdrawal_can_be_previewed_done_and_undone(harness: Harness) -> None:
    name = harness.session(config=Config(budget=4)).name
    ann, bob = driver(harness, "unary", name, "ann"), driver(harness, "unary", name, "bob")
    (assign,) = bob.take()
    bob.answer(assign, OUTLIER)
    ann.label("11")
    harness.worker.work_off()
    version = harness.get(name).etag

    preview = withdraw(harness, name, "bob", validate_only=True).effect
    assert (preview.votes, preview.labels_lost, preview.queries_reopened) == (1, 1, 1)
    assert (preview.counts_before.total, preview.counts_after.total) == (2, 1)
    # The scripted worker computes none.
    assert not preview.HasField("live_before")
    assert not preview.HasField("live_after")
    assert harness.get(name).etag == version

    done = withdraw(harness, name, "bob")
    assert done.session.counts.total == 1
    assert done.effect == preview
    event = events(harness, name)[-1]
    assert (event.kind, event.labeler, event.observation_id) == (Kind.KIND_WITHDRAWN, "bob", "")
    assert event.verdict == common_pb2.VERDICT_UNSPECIFIED
    assert [one.withdrawn for one in report(harness, name).labelers] == [False, True]
    with pytest.raises(Refused) as refused:
        bob.label("9")
    assert refused.value.reason == "LABELER_WITHDRAWN"
    harness.worker.work_off()
    assert [one.query for one in ann.wait()] == [assign.query]

    # Done twice it has one effect.
    assert withdraw(harness, name, "bob").effect.votes == 0
    back = harness.tuning.ReinstateLabeler(
        tuning_pb2.ReinstateLabelerRequest(name=name, labeler="bob")
    )
    assert (back.effect.votes, back.effect.labels_gained) == (1, 1)
    assert back.session.counts.outlier == 1
    assert events(harness, name)[-1].kind == Kind.KIND_REINSTATED
    assert bob.label("9").counts.total == 3


def test_observations_are_listed_page_by_page(harness: Harness) -> None:
    displays = [
        dataset_pb2.Display(fields=[common_pb2.DisplayField(key="host", value=f"db-{row}")])
        for row in range(N)
    ]
    ids = [f"id-{row}" for row in range(N)]
    dataset = harness.upload(header(), chunk(grid(), observation_ids=ids, displays=displays))
    found: list[dataset_pb2.Observation] = []
    token, pages = "", 0
    while token or not pages:
        page = harness.datasets.ListObservations(
            dataset_pb2.ListObservationsRequest(parent=dataset.name, page_size=5, page_token=token)
        )
        found += page.observations
        token, pages = page.next_page_token, pages + 1
    assert pages == 3
    assert [one.observation_id for one in found] == ids
    assert [one.row for one in found] == list(range(N))
    assert [one.display[0].value for one in found] == [f"db-{row}" for row in range(N)]
    request = dataset_pb2.ListObservationsRequest
    wanted = [4, 0, 7, 4]
    first = harness.datasets.ListObservations(
        request(parent=dataset.name, rows=wanted, page_size=3)
    )
    rest = harness.datasets.ListObservations(
        request(parent=dataset.name, rows=wanted, page_token=first.next_page_token)
    )
    given = [*first.observations, *rest.observations]
    assert [(one.row, one.observation_id) for one in given] == [(row, ids[row]) for row in wanted]
    assert rest.next_page_token == ""
    call = lambda: harness.datasets.ListObservations(request(parent=dataset.name, rows=[N]))  # noqa: E731
    assert reason_of(refusal(call)) == "ROW_OUT_OF_RANGE"
    plain = harness.upload(header(), chunk(grid() + 1))
    listed = harness.datasets.ListObservations(
        dataset_pb2.ListObservationsRequest(parent=plain.name)
    )
    assert [one.observation_id for one in listed.observations] == [str(row) for row in range(N)]
    assert listed.next_page_token == ""


def test_agreement_of_pairs_comes_in_pages(harness: Harness) -> None:
    name = harness.session(config=Config(budget=4, overlap=3)).name
    for labeler, verdict in (("ann", INLIER), ("bob", OUTLIER), ("eve", OUTLIER)):
        one = driver(harness, "unary", name, labeler)
        one.answer(one.take()[0], verdict)
    request = tuning_pb2.GetAgreementRequest(name=name, page_size=2)
    first = harness.tuning.GetAgreement(request)
    request.page_token = first.next_page_token
    rest = harness.tuning.GetAgreement(request)
    pairs = [*first.pairs, *rest.pairs]
    assert [(pair.first, pair.second) for pair in pairs] == [
        ("ann", "bob"),
        ("ann", "eve"),
        ("bob", "eve"),
    ]
    assert [(pair.inlier_outlier, pair.both_outlier) for pair in pairs] == [(1, 0), (1, 0), (0, 1)]
    assert [pair.HasField("cohen_kappa") for pair in pairs] == [True, True, False]
    assert (len(first.pairs), rest.next_page_token) == (2, "")


def test_agreement_by_something_unknown_is_refused(harness: Harness) -> None:
    request = tuning_pb2.GetAgreementRequest(
        name=harness.session().name,
        by=9,  # type: ignore[arg-type]
    )
    error = refusal(lambda: harness.tuning.GetAgreement(request))
    info = error_info(status_of(error))
    assert (info.reason, info.metadata["field"]) == ("INVALID_FIELD", "by")
