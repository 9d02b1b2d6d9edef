"""Control items: asked like other queries, and reported by labeler."""

from collections.abc import Mapping

import grpc
import pytest
from tests.service.drivers import TRANSPORTS, Driver, driver
from tests.service.harness import INLIER, OUTLIER, UNSURE, Harness, N, refusal
from tests.service.support import reason_of

from svddtune.v1 import common_pb2, config_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config, Item = config_pb2.SessionConfig, tuning_pb2.ControlItem
# Half of each labeler's queries.
HALF = Config(budget=4, overlap=2, control_share=0.5)
KNOWN = {N - 1: OUTLIER, N - 2: INLIER}


def items(known: Mapping[int, common_pb2.Verdict] = KNOWN) -> list[tuning_pb2.ControlItem]:
    return [Item(observation_id=str(row), verdict=verdict) for row, verdict in known.items()]


def checked(harness: Harness, one: Driver) -> list[oracle_pb2.Assign]:
    """Let a labeler say inlier to four queries; return those that were control items."""
    found = []
    for _ in range(4):
        (assign,) = one.wait()
        found += [assign] if assign.row in KNOWN else []
        one.answer(assign, INLIER)
        harness.worker.work_off()
    return found


def reports(harness: Harness, name: str) -> dict[str, tuning_pb2.LabelerReport]:
    found = harness.tuning.ListLabelers(tuning_pb2.ListLabelersRequest(name=name)).labelers
    return {one.labeler: one for one in found}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("blind", [False, True])
def test_control_items_look_like_queries_and_tell_how_good_a_labeler_is(
    harness: Harness, transport: str, blind: bool
) -> None:
    config = Config(blind=blind)
    config.MergeFrom(HALF)
    name = harness.session(config=config, controls=items()).name
    ann = driver(harness, transport, name)
    found = checked(harness, ann)
    assert [sorted(one.row for one in found)] == [sorted(KNOWN)]
    assert all(one.explanation.why and not one.HasField("adjudication") for one in found)
    assert harness.get(name).counts.total == 2
    log = harness.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=name)).events
    kinds = {event.row: event.kind for event in log}
    assert [kinds[row] for row in KNOWN] == [common_pb2.LabelEvent.KIND_CHECKED] * 2
    report = reports(harness, name)["ann"]
    assert (report.control_count, report.control_right_count) == (2, 1)
    assert (report.control_outlier_count, report.control_outlier_right_count) == (1, 0)
    assert report.trust == pytest.approx((4 + 1) / (5 + 2))
    assert (report.asked, report.repeats, report.votes.total) == (2, 0, 2)


def test_correction_and_retraction_of_a_control_item_count(harness: Harness) -> None:
    name = harness.session(config=HALF, controls=items()).name
    ann = driver(harness, "unary", name)
    checked(harness, ann)
    ann.label(str(N - 1), OUTLIER, replace=True)
    assert reports(harness, name)["ann"].control_right_count == 2
    ann.retract(str(N - 2))
    report = reports(harness, name)["ann"]
    assert (report.control_count, report.control_outlier_right_count) == (1, 1)
    assert harness.get(name).counts.total == 2


def test_without_control_items_nobody_has_a_trust(harness: Harness) -> None:
    name = harness.session(config=HALF).name
    ann = driver(harness, "unary", name)
    ann.answer(ann.take()[0], INLIER)
    report = reports(harness, name)["ann"]
    assert (report.control_count, report.HasField("trust")) == (0, False)


def test_labels_of_control_items_are_not_taken_over(harness: Harness) -> None:
    first = harness.session()
    for row in (0, N - 1):
        harness.label(first.name, str(row))
    second = harness.create(first.dataset, from_session=first.name, controls=items())
    assert second.counts.total == 1
    assert (second.taken_over.taken_count, second.taken_over.left_out_count) == (1, 1)


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ([Item(observation_id="none", verdict=INLIER)], "UNKNOWN_OBSERVATION"),
        ([Item(observation_id="0", verdict=UNSURE)], "INVALID_FIELD"),
        ([Item(observation_id="0")], "INVALID_FIELD"),
        (items({3: INLIER}), "CONFLICTING_LABELS"),
        (items({0: INLIER}) * 2, "CONFLICTING_LABELS"),
        (items({0: INLIER}) * 1001, "INVALID_FIELD"),
    ],
)
def test_control_items_that_cannot_be_are_refused(
    harness: Harness, known: list[tuning_pb2.ControlItem], reason: str
) -> None:
    initial = [tuning_pb2.InitialLabel(observation_id="3", verdict=OUTLIER)]
    error = refusal(lambda: harness.create(controls=known, initial_labels=initial))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert reason_of(error) == reason


def test_control_items_must_leave_something_to_ask_about(harness: Harness) -> None:
    most = dict.fromkeys(range(N), INLIER)
    error = refusal(lambda: harness.create(controls=items(most)))
    assert reason_of(error) == "INVALID_FIELD"
    assert f"len(controls) is {N}; allowed: fewer than" in (error.details() or "")
    del most[3]
    # The session ends with the last observation, however many more the budget asks for.
    name = harness.session(controls=items(most)).name
    harness.label(name, "3")
    harness.worker.work_off()
    assert harness.get(name).state == tuning_pb2.SESSION_STATE_COMPLETED


def test_creation_with_other_control_items_is_another_request(harness: Harness) -> None:
    first = harness.session(controls=items())
    request_id = "7f1c4a52-6d0f-4d0c-9d0e-0f5f1f3c1a77"
    made = [
        harness.create(first.dataset, controls=items(), request_id=request_id) for _ in range(2)
    ]
    assert made[0].name == made[1].name
    error = refusal(
        lambda: harness.create(first.dataset, controls=items({0: INLIER}), request_id=request_id)
    )
    assert reason_of(error) == "REQUEST_ID_REUSED"
