"""What callers of the role labeler see of sessions and datasets."""

from collections.abc import Iterator

import grpc
import pytest
from tests.service.access.world import World, world_at
from tests.service.harness import OUTLIER, N, chunk, grid, header, refusal
from tests.service.support import reason_of

from svddtune.stack import EmbeddedServer
from svddtune.v1 import config_pb2, dataset_pb2, oracle_pb2, tuning_pb2

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def world(
    redis_server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with world_at(redis_server.url, tmp_path_factory.mktemp("tokens")) as world:
        yield world


@pytest.fixture
def dataset(world: World, redis_url: str) -> str:
    """A dataset with names of its features, on an empty store."""
    named = header(feature_names=["load", "heat"])
    return world.as_("admin").upload(named, chunk(grid())).name


@pytest.mark.parametrize("blind", [False, True])
def test_labeler_sees_classes_unless_the_session_is_blind(
    world: World, dataset: str, blind: bool
) -> None:
    admin, labeler = world.as_("admin"), world.as_("labeler")
    name = admin.session(
        dataset=dataset, config=config_pb2.SessionConfig(budget=6, blind=blind)
    ).name
    admin.oracle.Answer(
        oracle_pb2.AnswerRequest(
            answer=oracle_pb2.Answer(
                answer_id="1", session=name, observation_id="11", verdict="VERDICT_OUTLIER"
            )
        )
    )
    (listed,) = labeler.tuning.ListSessions(tuning_pb2.ListSessionsRequest()).sessions
    stream = labeler.labeler(name, "")
    welcome = stream.expect("welcome").session
    for seen in (labeler.get(name), listed, welcome):
        assert seen.counts.total == 1
        assert seen.counts.outlier == (0 if blind else 1)
        assert seen.HasField("gamma") != blind
    assert admin.get(name).counts.outlier == 1
    assert admin.get(name).HasField("gamma")
    stream.send(bye=oracle_pb2.Bye())
    assert stream.end() is None


def test_labeler_gets_names_and_counts_of_a_dataset_and_nothing_of_its_rows(
    world: World, dataset: str
) -> None:
    request = dataset_pb2.GetDatasetRequest(name=dataset)
    seen = world.as_("labeler").datasets.GetDataset(request).dataset
    assert list(seen.feature_names) == ["load", "heat"]
    assert (seen.observation_count, seen.feature_count) == (N, 2)
    whole = world.as_("viewer").datasets.GetDataset(request).dataset
    assert whole.content_hash
    for field in ("content_hash", "duplicate_row_count", "constant_columns", "scaling"):
        assert not getattr(seen, field), field
    rows = dataset_pb2.ListObservationsRequest(parent=dataset)
    error = refusal(lambda: world.as_("labeler").datasets.ListObservations(rows))
    assert error.code() is grpc.StatusCode.PERMISSION_DENIED
    assert reason_of(error) == "ROLE_TOO_LOW"


def test_labeler_gets_no_name_of_a_feature_that_a_session_hides(world: World, dataset: str) -> None:
    request = dataset_pb2.GetDatasetRequest(name=dataset)

    def names(role: str) -> list[str]:
        return list(world.as_(role).datasets.GetDataset(request).dataset.feature_names)

    admin = world.as_("admin")
    admin.session(dataset=dataset)
    assert names("labeler") == ["load", "heat"]
    config = config_pb2.SessionConfig(budget=6, visible_features=["heat"])
    session = admin.session(dataset=dataset, config=config).name
    assert names("labeler") == ["", "heat"]
    config.visible_features[:] = ["0"]
    admin.session(dataset=dataset, config=config)
    assert names("labeler") == []
    for role in ("admin", "tuner", "viewer"):
        assert names(role) == ["load", "heat"]
        assert list(world.as_(role).get(session).config.visible_features) == ["heat"]


def test_labeler_of_a_session_without_features_labels_by_display_fields_alone(
    world: World, dataset: str
) -> None:
    admin, labeler = world.as_("admin"), world.as_("labeler")
    config = config_pb2.SessionConfig(budget=6, raw_features=False)
    stream = labeler.labeler(admin.session(dataset=dataset, config=config).name, "")
    assign = stream.expect("assign")
    assert not assign.features
    assert not assign.explanation.unusual
    stream.answer(assign, OUTLIER)
    assert stream.expect("ack").counts.outlier == 1
    stream.send(bye=oracle_pb2.Bye())
    assert stream.end() is None
