"""Projects have nothing in common: lists, streams that serve any session, uploads, request ids."""

import json
import uuid
from functools import partial

import grpc
import pytest
from tests.service.access.world import FOREIGN, OWN, World
from tests.service.harness import INLIER, Harness, chunk, grid, header, refusal
from tests.service.support import reason_of
from tests.waiting import wait_until

from svddtune.v1 import config_pb2, dataset_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration


def sessions_of(harness: Harness, **request: object) -> list[str]:
    """Names of all sessions that a caller is told of, page by page."""
    found, token = [], ""
    while True:
        page = harness.tuning.ListSessions(
            tuning_pb2.ListSessionsRequest(page_token=token, **request)  # type: ignore[arg-type]
        )
        found += [one.name for one in page.sessions]
        token = page.next_page_token
        if not token:
            return found


def datasets_of(harness: Harness) -> list[str]:
    found = harness.datasets.ListDatasets(dataset_pb2.ListDatasetsRequest()).datasets
    return [one.name for one in found]


@pytest.mark.parametrize("projects", [("one", "two"), ("default", "three")])
def test_lists_have_own_things_only(world: World, projects: tuple[str, str]) -> None:
    first, second = (world.as_("admin", project) for project in projects)
    made: list[list[str]] = [[], []]
    for number, one in ((0, first), (1, second), (1, second), (0, first)):
        made[number].insert(0, one.create(one.upload(header(), chunk(grid())).name).name)
    for size in (1, 10):
        assert sessions_of(first, page_size=size) == made[0]
        assert sessions_of(second, page_size=size) == made[1]
    # The same content is another dataset in another project.
    assert len(datasets_of(first)) == len(datasets_of(second)) == 1
    assert datasets_of(first) != datasets_of(second)
    first.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=made[0][0]))
    assert sessions_of(first) == made[0][1:]
    for session in made[1]:
        second.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=session))
    dataset = datasets_of(second)[0]
    second.datasets.DeleteDataset(dataset_pb2.DeleteDatasetRequest(name=dataset))
    assert (sessions_of(second), datasets_of(second)) == ([], [])
    assert len(datasets_of(first)) == 1


def test_stream_that_serves_any_session_serves_own_ones(world: World) -> None:
    admin, other = world.as_("admin", "left"), world.as_("admin", "right")
    config = config_pb2.SessionConfig(budget=6)
    foreign = other.create(config=config).name
    early = world.as_("labeler", "left").labeler([], "")
    assert early.expect("welcome")
    own = admin.create(config=config).name
    admin.worker.work_off()
    assert early.expect("assign").session == own
    leased = world.as_("labeler", "right", "r").oracle.Lease(
        oracle_pb2.LeaseRequest(max_queries=5, wait_seconds=5)
    )
    assert {one.session for one in leased.assignments} == {foreign}
    # An item names a foreign session, or one that never was: the stream goes on all the same.
    rejected = []
    for session in (foreign, f"{foreign[:-1]}{'0' if foreign[-1] != '0' else '1'}"):
        answer = oracle_pb2.Answer(
            answer_id="a", session=session, observation_id="0", verdict=INLIER
        )
        early.send(request_id="r", answer=answer)
        reject = early.expect("reject")
        rejected.append(reject.SerializeToString().replace(session[9:].encode(), b"*"))
    assert rejected[0] == rejected[1]
    assert reject.status.message == f"There is no session {session[9:]}."


def test_upload_belongs_to_its_project(world: World) -> None:
    upload_id = str(uuid.uuid4())
    own, other = world.as_("tuner"), world.as_("tuner", FOREIGN)
    first, rest = chunk(grid()[:5], first_row=0), chunk(grid()[5:], first_row=5)
    begun = refusal(lambda: own.upload(header(upload_id=upload_id), first))
    assert reason_of(begun) == "DATASET_INCOMPLETE"
    asked = dataset_pb2.GetUploadRequest(upload_id=upload_id)
    assert not own.datasets.GetUpload(asked).HasField("dataset")
    unknown = refusal(lambda: other.datasets.GetUpload(asked))
    assert reason_of(unknown) == "UPLOAD_NOT_FOUND"
    assert upload_id in str(unknown.details())
    # The other project has an upload of its own under the same id, with another header.
    assert other.upload(header(upload_id=upload_id, display_name="other"), first, rest)
    assert other.datasets.GetUpload(asked).dataset.display_name == "other"
    assert not own.datasets.GetUpload(asked).HasField("dataset")
    assert own.upload(header(upload_id=upload_id), first, rest).display_name == ""


def test_request_id_of_another_project_is_not_seen(world: World) -> None:
    request_id = str(uuid.uuid4())
    own, other = world.as_("tuner"), world.as_("tuner", FOREIGN)
    first = own.create(request_id=request_id)
    again = own.create(first.dataset, request_id=request_id)
    assert again.name == first.name
    second = other.create(request_id=request_id, display_name="another request")
    assert second.name != first.name
    for harness, session in ((own, first.name), (other, second.name)):
        request = tuning_pb2.CancelSessionRequest(name=session, request_id=request_id)
        assert harness.tuning.CancelSession(request).session.name == session
        reused = tuning_pb2.PauseSessionRequest(name=session, request_id=request_id)
        error = refusal(partial(harness.tuning.PauseSession, reused))
        assert reason_of(error) == "REQUEST_ID_REUSED"
        # It names the id as its caller gave it, not as it is stored.
        assert request_id in str(error.details())


def test_labeler_has_the_name_of_its_credentials(world: World) -> None:
    admin, ann = world.as_("admin"), world.as_("labeler", OWN, "ann")
    session = admin.create(config=config_pb2.SessionConfig(budget=6)).name
    answer = oracle_pb2.Answer(answer_id="1", session=session, observation_id="0", verdict=INLIER)
    for labeler in ("", "ann"):
        ann.oracle.Answer(oracle_pb2.AnswerRequest(labeler=labeler, answer=answer))
    events = admin.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=session)).events
    assert [one.labeler for one in events] == ["ann"]
    error = refusal(
        lambda: ann.oracle.Answer(oracle_pb2.AnswerRequest(labeler="bob", answer=answer))
    )
    assert (error.code(), reason_of(error)) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "LABELER_NOT_YOURS",
    )
    ended = ann.labeler(session, "bob").end()
    assert ended is not None
    assert reason_of(ended) == "LABELER_NOT_YOURS"
    named = refusal(lambda: admin.create(labeler="bob"))
    assert reason_of(named) == "LABELER_NOT_YOURS"


def test_vote_of_another_is_retracted_by_an_admin_and_the_logs_say_by_whom(world: World) -> None:
    admin, ann = world.as_("admin", OWN, "ada"), world.as_("labeler", OWN, "ann")
    session = admin.create(config=config_pb2.SessionConfig(budget=6)).name
    answer = oracle_pb2.Answer(answer_id="1", session=session, observation_id="0", verdict=INLIER)
    ann.oracle.Answer(oracle_pb2.AnswerRequest(answer=answer))
    retract = oracle_pb2.RetractRequest(
        retract=oracle_pb2.Retract(
            answer_id="2", session=session, observation_id="0", of_labeler="ann"
        )
    )
    for role in ("labeler", "tuner"):
        other = world.as_(role, OWN, "otto")
        error = refusal(lambda other=other: other.oracle.Retract(retract))  # type: ignore[misc]
        assert reason_of(error) == "ROLE_TOO_LOW"
    admin.oracle.Retract(retract)
    withdraw = tuning_pb2.WithdrawLabelerRequest(name=session, labeler="ann")
    admin.tuning.WithdrawLabeler(withdraw)
    events = admin.tuning.ListLabels(tuning_pb2.ListLabelsRequest(name=session)).events
    assert [one.source_reference for one in events] == ["", "by ada", "by ada"]

    def noted() -> list[dict[str, str]]:
        lines = map(json.loads, world.log.read_text().splitlines())
        return [one for one in lines if one["logger"] == "svddtune.audit"]

    wait_until(lambda: any(one["event"] == "WithdrawLabeler" for one in noted()))
    line = next(
        one
        for one in noted()
        if one["event"] == "WithdrawLabeler" and one["subject"] == f"{session} ann"
    )
    expected = {"caller": "ada", "project": OWN, "role": "admin", "outcome": "done"}
    assert {key: line[key] for key in expected} == expected


def test_no_token_is_in_the_log(world: World) -> None:
    token = world.token("viewer")
    world.info(token)
    assert token.rpartition("_")[2] not in world.log.read_text()
