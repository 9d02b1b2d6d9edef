"""One service that asks who calls, for all tests of a run."""

from collections.abc import Iterator

import pytest
from tests.service.access.world import FOREIGN, OWN, Things, World, things_of, world_at

from svddtune.process.tokens import ROLES
from svddtune.stack import EmbeddedServer


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("access")
    with (
        EmbeddedServer(folder / "redis", fsync="no") as server,
        world_at(server.url, folder) as world,
    ):
        for role in ROLES:
            for project in (OWN, FOREIGN):
                world.token(role, project)
        yield world


@pytest.fixture(scope="session")
def things(world: World) -> Things:
    return things_of(world)
