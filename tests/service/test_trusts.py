"""How far labelers are trusted: set with a session, changed while it runs, and read by workers."""

import math
import uuid

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from tests.service.harness import Harness, refusal
from tests.service.support import error_info, reason_of, status_of

from svddtune.service.views import seen_session
from svddtune.state import codec, keys
from svddtune.state.session import SessionId
from svddtune.v1 import config_pb2, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig


def changed(
    harness: Harness, name: str, trusts: dict[str, float], *paths: str, request_id: str = ""
) -> tuning_pb2.Session:
    session = tuning_pb2.Session(name=name, config=Config(trusts=trusts))
    request = tuning_pb2.UpdateSessionRequest(
        session=session, update_mask=FieldMask(paths=paths), request_id=request_id
    )
    return harness.tuning.UpdateSession(request).session


def read_by_workers(harness: Harness, name: str) -> dict[str, float]:
    fields = harness.worker.client.hgetall(keys.session(SessionId(name.removeprefix("sessions/"))))
    return dict(codec.session_from_fields(fields, 0, 0).config.trusts)


def test_trusts_are_kept_and_changed_as_a_whole(harness: Harness) -> None:
    made = harness.session(config=Config(budget=6, trusts={"ann": 0.95, "bob": 0.75}))
    assert dict(made.config.trusts) == {"ann": 0.95, "bob": 0.75}
    assert read_by_workers(harness, made.name) == {"ann": 0.95, "bob": 0.75}
    after = changed(harness, made.name, {"cem": 1.0})
    assert dict(after.config.trusts) == {"cem": 1.0}
    assert (after.config.budget, after.display_name) == (6, made.display_name)
    assert read_by_workers(harness, made.name) == {"cem": 1.0}
    after = changed(harness, made.name, {}, "config.trusts")
    assert not after.config.trusts
    assert read_by_workers(harness, made.name) == {}


def test_new_trusts_let_the_queries_be_ranked_anew(harness: Harness) -> None:
    name = harness.session().name
    harness.label(name, "3")
    harness.worker.work_off()
    request_id = str(uuid.uuid4())
    for _ in range(2):
        after = changed(harness, name, {"ann": 0.75}, request_id=request_id)
        assert after.ranking_pending
    # A ranking that was begun before is one of other trusts: it is not taken.
    claim = harness.worker.next_claim()
    assert claim is not None
    snapshot = harness.worker.workspace.snapshot(claim)
    assert snapshot is not None
    assert dict(snapshot.session.config.trusts) == {"ann": 0.75}
    changed(harness, name, {"ann": 0.8})
    current = harness.worker.workspace.snapshot(claim)
    assert current is not None
    assert current.rev > snapshot.rev
    harness.worker.do(claim)
    harness.worker.work_off()
    assert not harness.get(name).ranking_pending
    assert harness.labeler(name).expect("assign").row != 3


@pytest.mark.parametrize(
    "wrong", [{"ann": 0.5}, {"ann": 1.01}, {"ann": math.nan}, {"no name": 0.8}, {"": 0.8}]
)
def test_wrong_trusts_are_refused(harness: Harness, wrong: dict[str, float]) -> None:
    name = harness.session().name
    for field, call in (
        ("config.trusts", lambda: harness.session(config=Config(trusts=wrong))),
        ("session.config.trusts", lambda: changed(harness, name, wrong)),
    ):
        info = error_info(status_of(refusal(call)))
        assert (info.reason, info.metadata["field"]) == ("INVALID_FIELD", field)
        assert "each with a number above 0.5, at most 1" in info.metadata["allowed"]


def test_trusts_of_a_session_that_is_cancelled_cannot_change(harness: Harness) -> None:
    name = harness.session().name
    harness.tuning.CancelSession(tuning_pb2.CancelSessionRequest(name=name))
    error = refusal(lambda: changed(harness, name, {"ann": 0.75}))
    assert reason_of(error) == "SESSION_NOT_ACTIVE"


def test_session_goes_on_with_trusts_that_were_given_after_its_end(harness: Harness) -> None:
    name = harness.completed().name
    assert dict(changed(harness, name, {"ann": 0.75}).config.trusts) == {"ann": 0.75}
    assert harness.worker.work_off() == []
    harness.tuning.ResumeSession(tuning_pb2.ResumeSessionRequest(name=name))
    assert "SUGGEST" in harness.worker.work_off()


def test_labelers_do_not_see_who_is_trusted(harness: Harness) -> None:
    made = harness.session(config=Config(trusts={"ann": 0.75}))
    fields = harness.worker.client.hgetall(
        keys.session(SessionId(made.name.removeprefix("sessions/")))
    )
    session = codec.session_from_fields(fields, 0, 0)
    assert session.config.trusts == {"ann": 0.75}
    seen = seen_session(session)
    assert not seen.config.trusts
    assert seen.config.budget == made.config.budget
