"""This version upgrades and continues the data of version 0.1.0 (layout 2).

``layout_2.json`` holds all keys of a server after a run of 0.1.0 with four sessions on one dataset:
``labeling`` (default strategy, query 6 is leased to ann), ``lama`` (overlap 2, repeats), ``paused``
and ``completed``. Of its 40 rows 36 to 39 are the outliers.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from tests.e2e.processes import deployment
from tests.waiting import wait_until

from svddtune.client import SessionState, TuningClient, WrongState
from svddtune.state import keys
from svddtune.state.connect import Redis
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import examine
from svddtune.state.recount import compare
from svddtune.state.upgrade import upgrade

pytestmark = pytest.mark.integration

STORED: dict[str, Any] = json.loads(Path(__file__).with_name("layout_2.json").read_text())
SESSIONS: dict[str, str] = STORED["sessions"]


def raw(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def write(client: Redis, key: str, kind: str, value: Any) -> None:
    match kind:
        case "string":
            client.set(key, raw(value))
        case "hash":
            client.hset(key, mapping={raw(field): raw(text) for field, text in value})
        case "list":
            client.rpush(key, *map(raw, value))
        case "set":
            client.sadd(key, *map(raw, value))
        case "zset":
            client.zadd(key, {raw(member): score for member, score in value})
        case "stream":
            for entry, fields in value:
                client.xadd(key, {raw(name): raw(text) for name, text in fields}, id=entry)


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    """A server with the data of 0.1.0, including a job that its worker had begun."""
    with redis.Redis.from_url(redis_url) as client:
        for key, (kind, value) in STORED["keys"].items():
            write(client, key, kind, value)
        for lane in ("hi", "bulk"):
            stream = f"{keys.prefix(0)}q:{lane}"
            client.xgroup_create(stream, keys.GROUP, id="0", mkstream=True)
            client.xadd(stream, {"kind": "PLAN", "session": "", "dataset": "", "payload": b""})
        client.xreadgroup(keys.GROUP, "gone", {f"{keys.prefix(0)}q:hi": ">"})
        yield client


def histories(client: Redis) -> dict[str, Any]:
    """Labels and queries by session."""
    return {
        name: (
            client.xrange(f"{keys.prefix(0)}s:{session_id}:events"),
            client.hgetall(f"{keys.prefix(0)}s:{session_id}:votes"),
            client.hgetall(f"{keys.prefix(0)}s:{session_id}:labels"),
        )
        for name, session_id in SESSIONS.items()
    }


def test_upgrade_keeps_labels_and_drops_jobs_and_computed_data(client: Redis) -> None:
    before = histories(client)
    examine(client)
    assert histories(client) == before
    assert client.get(keys.prefix(0) + "layout") == str(keys.LAYOUT_VERSION).encode()
    found = [key.decode() for key in client.scan_iter(count=1000)]
    assert [key for key in found if keys.group_of(key) is None] == []
    for lane in ("hi", "bulk"):
        assert client.xlen(f"{keys.prefix(0)}q:{lane}") == 0
        assert client.xpending(f"{keys.prefix(0)}q:{lane}", keys.GROUP)["pending"] == 0


def test_upgrade_counts_what_the_project_has(client: Redis) -> None:
    upgrade(client)
    (usage,) = compare(client, 1)
    assert usage.right
    assert usage.counted == {"sessions": 4, "datasets": 1, "bytes": 40 * 2 * 8}


def test_repeated_upgrade_has_one_effect(client: Redis) -> None:
    def everything() -> dict[str, Any]:
        found = {key: client.type(key) for key in sorted(client.scan_iter(count=1000))}
        return {
            # (The fields of a hash have no order.)
            key: client.hgetall(key) if kind == b"hash" else client.dump(key)
            for key, kind in found.items()
            if kind != b"stream"
        }

    upgrade(client)
    once = everything()
    upgrade(client)
    assert everything() == once


def test_data_of_later_layout_are_refused(client: Redis) -> None:
    client.set(keys.prefix(0) + "layout", keys.LAYOUT_VERSION + 1)
    with pytest.raises(StoreUnavailable, match="layout 5") as refusal:
        examine(client)
    assert refusal.value.reason == "REDIS_UNSAFE"
    client.flushall()


def test_data_of_0_1_0_are_not_upgraded_beside_its_workers(client: Redis) -> None:
    client.set(f"{keys.prefix(0)}worker:0a1b2c3d", "{}", ex=15)
    with pytest.raises(StoreUnavailable, match="0a1b2c3d") as refusal:
        examine(client)
    assert refusal.value.reason == "REDIS_UNSAFE"
    assert client.get(keys.prefix(0) + "layout") == b"2"
    client.delete(f"{keys.prefix(0)}worker:0a1b2c3d")
    examine(client)


@pytest.mark.slow
@pytest.mark.e2e
def test_upgraded_sessions_continue(client: Redis, redis_url: str) -> None:
    def verdict(row: int) -> str:
        return "outlier" if row >= 36 else "inlier"

    with deployment(redis_url) as address, TuningClient(address) as service:
        names = {name: f"sessions/{session_id}" for name, session_id in SESSIONS.items()}
        result = service.result(names["completed"])
        assert {"gamma": result.gamma, "C": result.C} == STORED["completed"]
        assert service.model(names["completed"]).gamma == result.gamma

        labeled = {name: service.get_session(names[name]).counts.total for name in names}
        assert labeled == {"completed": 6, "labeling": 7, "lama": 5, "paused": 3}
        assert service.resume_session(names["paused"]).state is not SessionState.PAUSED
        with pytest.raises(WrongState, match="budget"):
            service.resume_session(names["completed"])
        for name in ("labeling", "paused"):
            with service.tuning(names[name], labeler="ann") as tuning:
                for query in tuning.queries():
                    tuning.answer(query, verdict(query.row))
            finished = service.wait_until_completed(names[name], timeout_s=60)
            assert finished.counts.total == finished.config.budget
            rows = [event.observation_id for event in service.labels(names[name])]
            assert len(rows) == len(set(rows))

        def lama_asks() -> bool:
            return service.get_session(names["lama"]).state is SessionState.LABELING

        wait_until(lama_asks)
        service.finish_session(names["lama"])
        service.wait_until_completed(names["lama"], timeout_s=60)
        assert service.result(names["lama"]).gamma > 0
