"""Many labels at once, with both clients against a real service."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.client.flavours import Connect

from svddtune.client import (
    EmbeddedStack,
    InvalidInput,
    Label,
    LabelCounts,
    Session,
    SessionState,
    TuningClient,
    Verdict,
)

pytestmark = pytest.mark.integration

N = 2500
X = np.random.default_rng(3).normal(size=(N, 2))


@pytest.fixture
def client(stack: EmbeddedStack, connect: Connect) -> Iterator[TuningClient]:
    """A client of the stack that the tests share."""
    with connect(stack.address) as connected:
        yield connected


@pytest.fixture
def session(client: TuningClient) -> Iterator[Session]:
    created = client.create_session(client.upload_dataset(X), budget=N, strategy="random")
    yield created
    client.cancel_session(created)


def test_labels_of_several_batches_are_all_stored(client: TuningClient, session: Session) -> None:
    labels = {str(row): -1 if row % 10 == 0 else 1 for row in range(2300)}
    outcome = client.label_all(session, labels, labeler="desk", provenance="rule 7")
    assert outcome.applied == 2300
    assert outcome.refused == ()
    assert outcome.counts == LabelCounts(2070, 230, 0, 2300)
    events = list(client.labels(session))
    assert [event.observation_id for event in events] == list(labels)
    assert {(event.labeler, event.provenance) for event in events} == {("desk", "rule 7")}


def test_refused_labels_are_named_with_their_reasons(
    client: TuningClient, session: Session
) -> None:
    client.label_all(session, {"0": "inlier"}, labeler="desk")
    outcome = client.label_all(
        session,
        [
            Label("0", Verdict.OUTLIER),
            Label("1", Verdict.OUTLIER, "TICKET-1", confidence=0.9),
            Label("missing", Verdict.INLIER),
            Label("2", Verdict.INLIER, "x" * 300),
        ],
        labeler="desk",
    )
    assert outcome.applied == 1
    assert [(one.observation_id, one.error.reason) for one in outcome.refused] == [
        ("0", "ALREADY_ANSWERED"),
        ("missing", "UNKNOWN_OBSERVATION"),
        ("2", "INVALID_FIELD"),
    ]
    replaced = client.label_all(session, {"0": "outlier"}, labeler="desk", replace=True)
    assert replaced.counts == LabelCounts(0, 2, 0, 2)


def test_labels_with_ids_that_are_known_count_once(client: TuningClient, session: Session) -> None:
    ids = {"0": "TICKET-0", "1": "TICKET-1"}
    with client.tuning(session, labeler="desk", credit=0) as tuning:
        first = tuning.label_all({"0": 1, "1": -1}, answer_ids=ids)
        again = tuning.label_all({"0": 1, "1": -1}, answer_ids=ids)
    assert first == again
    assert [event.answer_id for event in client.labels(session)] == list(ids.values())


def test_labels_beyond_the_budget_are_refused_and_the_session_ends(client: TuningClient) -> None:
    session = client.create_session(client.upload_dataset(X[:50]), budget=20, strategy="random")
    with client.tuning(session, labeler="ann") as tuning:
        assert tuning.next_query() is not None
    outcome = client.label_all(
        session, {str(row): 1 if row else -1 for row in range(30)}, labeler="desk"
    )
    assert outcome.applied == 20
    assert {one.error.reason for one in outcome.refused} == {"SESSION_NOT_ACTIVE"}
    assert client.wait_until_completed(session).state is SessionState.COMPLETED


def test_no_labels_are_refused(client: TuningClient, session: Session) -> None:
    with pytest.raises(InvalidInput) as refused:
        client.label_all(session, {}, labeler="desk")
    assert refused.value.reason == "INVALID_FIELD"
