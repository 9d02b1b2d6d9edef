"""Both clients read what a service shows of a session, computed by its workers."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.client.flavours import Connect
from tests.client.scene import blob

from svddtune.client import EmbeddedStack, InvalidInput, NotFound, Session, TuningClient

pytestmark = pytest.mark.integration

NOWHERE = "sessions/p00-00000000000000000000"


@pytest.fixture
def client(stack: EmbeddedStack, connect: Connect) -> Iterator[TuningClient]:
    """A client of the stack that the tests share."""
    with connect(stack.address) as connected:
        yield connected


@pytest.fixture(scope="module")
def session(stack: EmbeddedStack) -> Session:
    """A session with a result."""
    X, y = blob(31)
    with TuningClient(stack.address) as client:
        dataset = client.upload_dataset(X, feature_names=["a", "b"], scaling="minmax")
        session = client.create_session(dataset, budget=8, strategy="mixed")
        with client.tuning(session, labeler="ann") as tuning:
            for query in tuning.queries():
                tuning.answer(query, int(y[query.row]))
        return client.wait_until_completed(session)


def test_pictures_of_a_session(client: TuningClient, session: Session) -> None:
    result = client.result(session)

    history = client.history(session)
    assert [one.labels for one in history] == sorted({one.labels for one in history})
    assert history[0].labels == 0
    last = history[-1]
    assert (last.labels, last.counts.total, last.gamma, last.C) == (8, 8, result.gamma, result.C)
    assert last.quality == result.quality
    assert last.scaling == result.scaling == "minmax"
    assert last.time is not None
    assert session.create_time is not None
    assert last.time > session.create_time
    assert np.isnan(last.alignment)

    atlas = client.atlas(session)
    (layer,) = atlas.layers
    assert (atlas.labels, layer.scaling) == (8, "minmax")
    assert layer.scores.shape == layer.costs.shape == layer.weights.shape
    assert layer.scores.shape == (len(layer.gammas), layer.outside_counts.shape[1])
    assert np.nansum(layer.weights) == pytest.approx(1.0, abs=1e-4)
    (best,) = np.argwhere((layer.gammas[:, None] == result.gamma) & (layer.costs == result.C))
    assert layer.weights[tuple(best)] == pytest.approx(layer.weights.max())

    found = client.map(session)
    assert found.labels == 8
    assert found.rows.tolist() == list(range(60))
    assert found.observation_ids == tuple(map(str, range(60)))
    assert (found.margins > 1e-5).sum() == result.outside_count
    assert 0.9 < found.explained_share <= 1.0
    assert found.method

    profile = client.profile(session, labeler="ann")
    assert [one.name for one in profile.features] == ["a", "b"]
    assert profile.observation_count == 60
    values = blob(31)[0][:, 1]
    feature = profile.features[1]
    assert (feature.center, feature.minimum) == (np.median(values), values.min())
    assert feature.shares[-1] == 1.0


def test_pictures_of_what_is_not_there_are_refused(client: TuningClient) -> None:
    with pytest.raises(NotFound, match="SESSION_NOT_FOUND"):
        client.history(NOWHERE)
    with pytest.raises(NotFound, match="SESSION_NOT_FOUND"):
        client.atlas(NOWHERE)
    with pytest.raises(NotFound, match="SESSION_NOT_FOUND"):
        client.map(NOWHERE)
    with pytest.raises(NotFound, match="SESSION_NOT_FOUND"):
        client.profile(NOWHERE, labeler="ann")
    with pytest.raises(InvalidInput, match="labeler"):
        client.profile(NOWHERE, labeler="no name")


def test_load_names_the_workers_of_the_stack(client: TuningClient) -> None:
    load = client.server_load()
    assert len(load.workers) >= 1
    assert all(one.last_seen is not None and one.memory_bytes > 0 for one in load.workers)
    assert load.given_up_jobs == 0


def test_validated_session_has_an_estimate_and_no_name(client: TuningClient) -> None:
    dataset = client.upload_dataset(blob(33)[0])
    before = list(client.list_sessions(dataset=dataset))
    planned = client.create_session(dataset, budget=7, name="plan", validate_only=True)
    assert planned.name == ""
    assert (planned.display_name, planned.config.budget) == ("plan", 7)
    assert planned.estimate is not None
    assert planned.estimate.seconds > 0
    assert list(client.list_sessions(dataset=dataset)) == before
    with pytest.raises(InvalidInput, match="BUDGET_TOO_LARGE"):
        client.create_session(dataset, budget=61, validate_only=True)
