"""``svddtune backup`` and ``restore`` bring sessions over the loss of their server."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis
from tests.clusters import RunningCluster
from tests.e2e.processes import deployment
from tests.state.dump import dump
from tests.state.lost_replies import completed
from tests.state.scene import N, Scene, play
from tests.waiting import wait_until

from svddtune.client import SessionState, TuningClient
from svddtune.client.cli.app import run
from svddtune.state import backup, keys
from svddtune.state.connect import Redis, connect
from svddtune.state.models import id_of_model
from svddtune.state.session import SessionId, Verdict

pytestmark = pytest.mark.integration


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "all.backup"


def command(capsys: pytest.CaptureFixture[str], name: str, *further: object) -> dict[str, Any]:
    """Run a command that succeeds; return its JSON."""
    assert run([name, "--json", *map(str, further)]) == 0, capsys.readouterr().err
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def kept(client: Redis, of: str = "") -> dict[str, Any]:
    """The content of all keys that a backup is to keep, of one session or of everything."""
    left_out = (
        "q:",
        "notices",
        "worker:",
        ":ranked",
        ":prep",
        ":atlas",
        ":waiting",
        ":data",
        "}:layout",
    )
    return {
        key: content
        for key, content in dump(client).items()
        if of in key and not any(part in key for part in left_out)
    }


def test_everything_comes_back_as_it_was(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def act(scene: Scene) -> SessionId:
        await scene.upload(ids=[f"id {row}" for row in range(N)])
        content = b"a model"
        await scene.models.put(id_of_model(content), content, 600)
        session_id = await completed(scene)
        await scene.sessions.update(session_id, retention_ms=3_600_000)
        return session_id

    session_id = play(redis_url, act)
    before = kept(client)
    written = command(capsys, "backup", file, "--redis", redis_url)
    assert list(written["sessions"]) == [session_id]
    client.flushall()
    restored = command(capsys, "restore", file, "--redis", redis_url)
    assert restored["sessions"] == {session_id: session_id}
    after = kept(client)
    assert after.keys() == before.keys()
    session = "svddtune:{p00}:s:SESSION"
    changed = {key for key in before if before[key] != after[key]}
    # The version counts the restoring itself, and a dataset forgets what was computed of it.
    assert changed <= {session, "svddtune:{p00}:d:NAME"}

    async def read(scene: Scene) -> tuple[Any, Any]:
        found = await scene.sessions.get(session_id)
        # Its own time is kept, and begins again.
        assert found.retention_ms == 3_600_000
        restored_ms = (found.expires_ms or 0) - 3_600_000
        assert found.created_ms < restored_ms <= found.updated_ms
        return found.state.name, await scene.models.content(id_of_model(b"a model"))

    assert play(redis_url, read) == ("COMPLETED", b"a model")


def test_session_is_not_overwritten_unless_asked(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def act(scene: Scene) -> SessionId:
        session_id = await scene.session()
        await scene.answer(session_id, 3)
        return session_id

    async def another(scene: Scene) -> None:
        await scene.answer(session_id, 4, answer_id="another")

    session_id = play(redis_url, act)
    command(capsys, "backup", file, "--session", session_id, "--redis", redis_url)
    play(redis_url, another)
    before = kept(client)
    assert run(["restore", str(file), "--redis", redis_url]) != 0
    assert "--replace" in capsys.readouterr().err
    assert kept(client) == before
    command(capsys, "restore", file, "--replace", "--redis", redis_url)
    assert list(client.hgetall(keys.session(session_id, "labels"))) == [b"3"]
    assert client.zrange(keys.prefix(0) + "sessions", 0, -1) == [session_id.encode()]


def test_session_under_a_new_id_goes_on_beside_the_first(
    redis_url: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def act(scene: Scene) -> None:
        first = await scene.session()
        await scene.answer(first, 3, Verdict.OUTLIER)
        command(capsys, "backup", file, "--redis", redis_url)
        restored = command(capsys, "restore", file, "--new-ids", "--redis", redis_url)
        second = SessionId(restored["sessions"][first])
        assert second != first
        scene.worker.work_off()
        (lease,) = await scene.lease(second)
        await scene.answer(second, lease)
        assert ((await scene.counts(first)).total, (await scene.counts(second)).total) == (1, 2)
        events = await scene.sessions.label_events(first)
        assert (await scene.sessions.label_events(second))[:1] == events
        await scene.sessions.finish(second)
        scene.worker.work_off()
        assert (await scene.state(second)).name == "COMPLETED"
        await scene.sessions.delete(second)
        assert (await scene.counts(first)).total == 1

    play(redis_url, act)


@pytest.mark.parametrize("expired", [False, True])
def test_lease_of_the_lost_server_holds_until_its_end(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str], expired: bool
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        (lease,) = await scene.lease(session_id)
        command(capsys, "backup", file, "--redis", redis_url)
        client.flushall()
        scene.worker.queue.prepare()
        command(capsys, "restore", file, "--redis", redis_url)
        if expired:
            await scene.run_out(session_id)
            await scene.sessions.expire(session_id)
        scene.worker.work_off()
        assert await scene.held(session_id, "ann/") == ([] if expired else [lease.query])
        (again,) = await scene.lease(session_id, "bob" if expired else "ann")
        assert again.query == lease.query
        assert (again.lease_id == lease.lease_id) is not expired
        assert (await scene.answer(session_id, again, labeler="bob" if expired else "ann")).applied

    play(redis_url, act)


def test_session_that_estimated_gets_its_result(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.session()
        await scene.answer(session_id, 3)
        await scene.sessions.finish(session_id)
        command(capsys, "backup", file, "--redis", redis_url)
        client.flushall()
        scene.worker.queue.prepare()
        command(capsys, "restore", file, "--redis", redis_url)
        scene.worker.work_off()
        found = await scene.sessions.get(session_id)
        assert (found.state.name, found.finish_reason) == ("COMPLETED", "FINISHED")

    play(redis_url, act)


def test_other_number_of_partitions_needs_new_ids(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.session()

    play(redis_url, act)
    command(capsys, "backup", file, "--redis", redis_url)
    dataset = client.zrange(keys.prefix(0) + "datasets", 0, -1)[0].decode()
    client.flushall()
    # Some number of partitions puts the dataset elsewhere.
    count = next(n for n in range(2, 99) if keys.partition_of_dataset(dataset, n) != 0)
    options = ("--redis", redis_url, "--partitions", str(count))
    assert run(["restore", str(file), *options]) != 0
    assert "--new-ids" in capsys.readouterr().err
    restored = command(capsys, "restore", file, "--new-ids", *options)
    (new,) = restored["sessions"].values()
    assert keys.partition_of_session(new) == keys.partition_of_dataset(dataset, count)
    assert client.exists(keys.session(new))


def test_damaged_file_changes_nothing(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.session()

    play(redis_url, act)
    command(capsys, "backup", file, "--redis", redis_url)
    client.flushall()
    whole = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()[::5]
    offsets = [one.header_offset + 32 + len(one.filename) for one in entries]
    for damaged in (b"", whole[:200], whole[: len(whole) // 2], *_flipped(whole, offsets)):
        file.write_bytes(damaged)
        assert run(["restore", str(file), "--redis", redis_url]) != 0
        complaint = capsys.readouterr().err
        assert "is damaged" in complaint or "cannot be read as a backup" in complaint
        assert not list(client.scan_iter(match="*:s:*"))


def _flipped(whole: bytes, offsets: list[int]) -> Iterator[bytes]:
    for offset in offsets:
        yield whole[:offset] + bytes([whole[offset] ^ 0xFF]) + whole[offset + 1 :]


def test_backup_that_cannot_be_made_leaves_the_last_one(
    redis_url: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_bytes(b"the last one")
    unknown = keys.new_session_id(0)
    assert run(["backup", str(file), "--session", unknown, "--redis", redis_url]) != 0
    assert unknown in capsys.readouterr().err
    assert file.read_bytes() == b"the last one"
    assert [one.name for one in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("in_force", range(keys.OLDEST_LAYOUT, keys.LAYOUT_VERSION + 1))
def test_backup_names_the_layout_in_force(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str], in_force: int
) -> None:
    client.set(keys.prefix(0) + "layout", in_force)
    command(capsys, "backup", file, "--redis", redis_url)
    with zipfile.ZipFile(file) as archive:
        assert json.loads(archive.read("manifest.json"))["layout"] == in_force


@pytest.mark.slow
@pytest.mark.e2e
def test_labelling_goes_on_after_the_server_lost_everything(
    redis_url: str, client: Redis, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(13)
    data = np.vstack([rng.normal(size=(40, 2)), rng.normal(loc=6.0, size=(4, 2))])

    def verdict(row: int) -> str:
        return "outlier" if row >= 40 else "inlier"

    with deployment(redis_url) as address, TuningClient(address) as service:
        dataset = service.upload_dataset(data)

        def new(name: str) -> str:
            return service.create_session(dataset, budget=8, strategy="lama", name=name).name

        def label(session: str, most: int) -> None:
            with service.tuning(session, labeler="ann") as tuning:
                for count, query in enumerate(tuning.queries(), start=1):
                    tuning.answer(query, verdict(query.row))
                    if count == most:
                        break

        undisturbed = new("undisturbed")
        label(undisturbed, 8)
        expected = service.wait_until_completed(undisturbed, timeout_s=60)
        session = new("disturbed")
        label(session, 4)
        command(capsys, "backup", file, "--redis", redis_url)
        client.flushall()
        command(capsys, "restore", file, "--redis", redis_url)
        wait_until(lambda: service.get_session(session).state is SessionState.LABELING)
        assert service.get_session(session).counts.total == 4
        label(session, 4)
        found = service.wait_until_completed(session, timeout_s=60)
        assert found.counts == expected.counts
        result, other = service.result(session), service.result(undisturbed)
        assert (result.gamma, result.C) == (other.gamma, other.C)
        asked = [
            [one.observation_id for one in service.labels(name)] for name in (session, undisturbed)
        ]
        assert asked[0] == asked[1]
        assert service.result(undisturbed).gamma == other.gamma


@pytest.mark.slow
def test_models_of_all_masters_of_a_cluster_are_found(redis_cluster: RunningCluster) -> None:
    partitions = 6
    models = sorted(id_of_model(bytes([number])) for number in range(40))
    held = {keys.partition_of_model(one, partitions) for one in models}
    assert held == set(range(partitions))
    with connect(redis_cluster.url) as client:
        for one in models:
            client.rpush(keys.model(keys.partition_of_model(one, partitions), one), b"piece")
        assert backup.model_ids(client, partitions) == models
