"""What projects have is counted right, whatever comes, goes, returns, expires or is recounted."""

import contextlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import sized
from tests.state.scene import Scene, play
from tests.state.test_retention import MINUTE, age

from svddtune.state import backup, keys, projects
from svddtune.state.backup import StoredDataset, StoredSession
from svddtune.state.connect import Redis
from svddtune.state.errors import WrongState
from svddtune.state.recount import compare, recount
from svddtune.state.restore import Restore
from svddtune.state.retention import Retention, remove_expired
from svddtune.state.session import DatasetId, SessionId
from svddtune.v1 import dataset_pb2

pytestmark = pytest.mark.integration

PROJECTS = ("default", "north")
Usage = dict[str, dict[str, int]]


def counted(client: Redis) -> Usage:
    """What the hashes say, by project and kind."""
    start = f"{keys.prefix(0)}usage:"
    return {
        key.decode().removeprefix(start): {
            kind.decode(): int(number) for kind, number in client.hgetall(key).items()
        }
        for key in client.scan_iter(match=f"{start}*")
    }


def by_definition(client: Redis) -> Usage:
    """What there is: each session and dataset of the store, looked at."""
    found = {project: Counter[str]() for project in PROJECTS}
    for key in client.scan_iter(match="svddtune:*", count=1000):
        group = key.decode().removeprefix(keys.prefix(0)).split(":")
        if len(group) != 2 or group[0] not in ("s", "d"):
            continue
        record, project = client.hmget(key, "record", "project")
        has = found[project.decode() if project else "default"]
        if group[0] == "s":
            has["sessions"] += 1
        else:
            described = dataset_pb2.Dataset.FromString(record)
            has["datasets"] += 1
            has["bytes"] += 8 * described.observation_count * described.feature_count
    return {project: dict(has) for project, has in found.items() if has}


class History:
    """Acts on a store of two projects, and what a backup has kept of it."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.client = scene, scene.worker.client
        self.sessions: list[StoredSession] = []
        self.datasets: list[tuple[StoredDataset, list[tuple[str, str, Any]]]] = []

    def _pick(self, index: str, number: int) -> Any:
        found = self.client.zrange(keys.prefix(0) + index, 0, -1)
        return found[number % len(found)].decode() if found else None

    def _project_of(self, dataset_id: str) -> str:
        found = self.client.hget(keys.dataset(0, DatasetId(dataset_id)), "project")
        return found.decode() if found else projects.DEFAULT

    async def upload(self, number: int) -> None:
        """Store one of three datasets in one of two projects, if it is not there."""
        with projects.working_for(PROJECTS[number % 2]):
            await self.scene.upload(n=12 + number % 6)

    async def create(self, number: int) -> None:
        if dataset_id := self._pick("datasets", number):
            self.scene.dataset_id = DatasetId(dataset_id)
            with projects.working_for(self._project_of(dataset_id)):
                await self.scene.session(budget=3)

    async def delete_session(self, number: int) -> None:
        if session_id := self._pick("sessions", number):
            await self.scene.sessions.delete(SessionId(session_id))

    async def delete_dataset(self, number: int) -> None:
        if dataset_id := self._pick("datasets", number):
            await self.scene.datasets.delete(DatasetId(dataset_id))

    async def expire(self, number: int) -> None:
        """Let all of one kind be over that may go, after a session has ended."""
        if session_id := self._pick("sessions", number):
            with contextlib.suppress(WrongState):
                await self.scene.sessions.cancel(SessionId(session_id))
        kept = Retention(session_ms=MINUTE) if number % 3 else Retention(dataset_ms=MINUTE)
        for index in ("ended", "unused"):
            await age(self.scene, index, MINUTE)
        removed = await remove_expired(self.scene.client, 0, kept)
        if session_id and kept.session_ms:
            assert session_id in {one.session_id for one in removed.sessions}

    async def back_up(self, number: int) -> None:
        if session_id := self._pick("sessions", number):
            stored = backup.session(self.client, SessionId(session_id))
            assert stored is not None
            dataset = backup.dataset(self.client, 0, stored.dataset_id)
            assert dataset is not None
            if number % 2:  # as if it were from before there were counts
                del stored.fields[b"counted"], dataset.fields[b"counted"]
            parts = list(backup.dataset_parts(self.client, 0, dataset))
            self.sessions.append(stored)
            self.datasets.append((dataset, parts))

    async def restore(self, number: int) -> None:
        if self.sessions:
            place = number % len(self.sessions)
            stored, (dataset, parts) = self.sessions[place], self.datasets[place]
            restore = Restore(self.client)
            restore.dataset(0, dataset, parts)
            new = keys.new_session_id(0) if number % 3 == 0 else stored.id
            restore.session(stored, new, replace=number % 3 == 1)

    async def forget_count(self, number: int) -> None:
        """Make a session as one from before there were counts, then count anew."""
        if session_id := self._pick("sessions", number):
            self.client.hdel(keys.session(SessionId(session_id)), "counted")
        if dataset_id := self._pick("datasets", number):
            self.client.hdel(keys.dataset(0, DatasetId(dataset_id)), "counted")
        await self.count_anew(number)

    async def count_anew(self, number: int) -> None:
        recount(self.client, 1)


ACTS = (
    "upload",
    "create",
    "create",
    "delete_session",
    "delete_dataset",
    "back_up",
    "restore",
    "expire",
)
HISTORIES = st.lists(
    st.tuples(
        st.sampled_from([*ACTS, "restore", "forget_count", "count_anew"]), st.integers(0, 59)
    ),
    min_size=6,
    max_size=30,
)


@settings(
    max_examples=sized(24, least=6),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(acts=HISTORIES)
def test_counts_equal_what_there_is_after_each_act(
    redis_url: str, acts: list[tuple[str, int]]
) -> None:
    async def act(scene: Scene) -> None:
        history = History(scene)
        begun = [("upload", 0), ("create", 0), ("back_up", 1), ("expire", 1), ("restore", 0)]
        # What is left is counted such that its end is counted too.
        deleted = [("delete_session", 0)] * 40 + [("delete_dataset", 0)] * 6
        for name, number in [*begun, *acts, *deleted]:
            doing: Callable[[int], Any] = getattr(history, name)
            # (A dataset that a session uses remains.)
            with contextlib.suppress(WrongState):
                await doing(number)
            assert counted(history.client) == by_definition(history.client), name
        assert counted(history.client) == {}

    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    play(redis_url, act)


def test_recount_finds_what_is_counted_wrong_and_mends_it(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        client = scene.worker.client
        session_id = await scene.session()
        client.hdel(keys.session(session_id), "counted")
        client.hdel(keys.dataset(0, scene.dataset_id), "counted")
        client.delete(keys.usage(0, "default"))
        client.hset(keys.usage(0, "gone"), mapping={"sessions": 2})
        default, gone = compare(client, 1)
        assert not default.right
        assert not gone.right
        assert default.counted == {"sessions": 0, "datasets": 0, "bytes": 0}
        assert default.found == {"sessions": 1, "datasets": 1, "bytes": 12 * 2 * 8}
        assert (gone.project, gone.counted["sessions"], gone.found["sessions"]) == ("gone", 2, 0)
        for _ in range(2):
            recount(client, 1)
            assert counted(client) == {"default": default.found}
            assert [one.right for one in compare(client, 1)] == [True]
        # What was not counted is, so that it can go.
        await scene.sessions.delete(session_id)
        await scene.datasets.delete(scene.dataset_id)
        assert counted(client) == {}

    play(redis_url, act)
