"""``svddtune doctor`` finds faults that were planted, and says what to do about each."""

import contextlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis
import trustme
from tests.clusters import RunningCluster
from tests.e2e.processes import service, worker
from tests.state.lost_replies import claim_of, new
from tests.state.scene import Scene, ScriptedWorker, play
from tests.state.worker_loss import silence_all
from tests.waiting import wait_until

from svddtune.client.cli.app import run
from svddtune.stack import EmbeddedServer
from svddtune.state import inspection, keys
from svddtune.state.session import SessionState

pytestmark = pytest.mark.integration

Doctor = Callable[..., dict[str, dict[str, str]]]


@pytest.fixture
def doctor(redis_url: str, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Run ``svddtune doctor``; its findings by check, after a look at the exit code."""

    def call(*arguments: str, url: str = redis_url) -> dict[str, dict[str, str]]:
        capsys.readouterr()
        code = run(["doctor", "--redis", url, *arguments, "--json"])
        document = json.loads(capsys.readouterr().out)
        found = {one["check"]: one for one in document["findings"]}
        severities = ["OK", "WARNING", "ERROR"]
        assert code == max(severities.index(one["severity"]) for one in found.values())
        assert severities[code] == document["severity"]
        assert all(bool(one["advice"]) == (one["severity"] != "OK") for one in found.values())
        return found

    return call


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server of its own, whose settings tests change."""
    with EmbeddedServer(tmp_path_factory.mktemp("spare")) as server:
        yield server


@pytest.fixture
def settings(spare: EmbeddedServer) -> Iterator[Callable[[str, object], None]]:
    """Change a setting of the spare server; it is what it was after the test."""
    before: dict[str, str] = {}
    with redis.Redis.from_url(spare.url, decode_responses=True) as client:

        def change(name: str, value: object) -> None:
            before.update(client.config_get(name))
            client.config_set(name, str(value))

        yield change
        for name, value in before.items():
            client.config_set(name, value)


def test_sound_deployment_has_nothing_to_report(spare: EmbeddedServer, doctor: Doctor) -> None:
    with service(spare.url) as front, worker(spare.url), redis.Redis.from_url(spare.url) as client:
        wait_until(lambda: any(one.alive for one in inspection.workers(client, 1)))
        found = doctor("--server", front.ready["address"], url=spare.url)
        assert {name for name, one in found.items() if one["severity"] != "OK"} == set()
        assert found["layout"]["value"] == str(keys.LAYOUT_VERSION)
        assert found.keys() >= {"store", "version", "eviction", "persistence", "replicas", "clock"}
        assert found.keys() >= {
            "memory",
            "workers",
            "dead letters",
            "stalled jobs",
            "sessions",
            "usage",
        }


def test_absent_store_is_found(doctor: Doctor) -> None:
    found = doctor(url="redis://127.0.0.1:1/0")
    assert found.keys() == {"store"}
    assert "refused" in found["store"]["value"]
    assert "--redis" in found["store"]["advice"]


@pytest.mark.parametrize(
    ("name", "value", "check", "severity", "said"),
    [
        ("maxmemory-policy", "allkeys-lru", "eviction", "ERROR", "allkeys-lru"),
        ("appendonly", "no", "persistence", "WARNING", "append-only file is off"),
        ("appendfsync", "everysec", "persistence", "WARNING", "everysec"),
    ],
)
def test_unsafe_setting_of_the_store_is_found(
    spare: EmbeddedServer,
    doctor: Doctor,
    settings: Callable[[str, object], None],
    name: str,
    value: str,
    check: str,
    severity: str,
    said: str,
) -> None:
    settings(name, value)
    found = doctor(url=spare.url)[check]
    assert found["severity"] == severity
    assert said in found["value"]
    assert "CONFIG SET" in found["advice"]


@pytest.mark.parametrize(("share", "severity"), [(0.9, "WARNING"), (0.97, "ERROR")])
def test_short_memory_is_found(
    spare: EmbeddedServer,
    doctor: Doctor,
    settings: Callable[[str, object], None],
    share: float,
    severity: str,
) -> None:
    with redis.Redis.from_url(spare.url) as client:
        # What connections need is little beside this filling. The server makes it itself: one
        # that was sent would need a buffer as large.
        client.setrange(keys.prefix(0) + "probe", 64 << 20, b"x")
        used = client.info("memory")["used_memory"]
        settings("maxmemory", int(used / share))
        found = doctor(url=spare.url)["memory"]
        client.delete(keys.prefix(0) + "probe")
    assert found["severity"] == severity
    assert "MiB of" in found["value"]


def test_replica_is_found(
    spare: EmbeddedServer, doctor: Doctor, redis_server: EmbeddedServer
) -> None:
    with redis.Redis.from_url(spare.url) as client:
        client.replicaof("127.0.0.1", 1)
        found = doctor(url=spare.url)["role"]
        client.replicaof("NO", "ONE")
    assert found["severity"] == "ERROR"
    assert found["value"] == "replica of 127.0.0.1:1"


@pytest.mark.parametrize(("layout", "severity"), [("1", "ERROR"), ("99", "ERROR")])
def test_unknown_layout_is_found_and_left_as_it_is(
    redis_url: str, doctor: Doctor, layout: str, severity: str
) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.set(keys.prefix(0) + "layout", layout)
        assert doctor()["layout"]["severity"] == severity
        assert client.get(keys.prefix(0) + "layout") == layout.encode()


def test_absent_workers_and_waiting_urgent_jobs_are_found(redis_url: str, doctor: Doctor) -> None:
    async def act(scene: Scene) -> None:
        await scene.answered_session()
        found = doctor()
        assert found["workers"]["severity"] == "ERROR"
        assert "svddtune worker" in found["workers"]["advice"]
        assert found["urgent jobs"]["severity"] == "OK"
        # It has waited for a minute.
        stream = f"{keys.prefix(0)}q:hi"
        ((entry, fields),) = scene.worker.client.xrange(stream)
        scene.worker.client.delete(stream)
        ms = int(entry.partition(b"-")[0]) - 60_000
        scene.worker.client.xadd(stream, fields, id=f"{ms}-0")
        assert doctor()["urgent jobs"]["severity"] == "ERROR"

    play(redis_url, act)


def test_stopped_worker_with_its_job_is_found_and_what_it_left_is_forgotten(
    redis_url: str, doctor: Doctor
) -> None:
    async def act(scene: Scene) -> None:
        await scene.answered_session()
        assert scene.worker.next_claim() is not None
        silence_all(scene.worker)
        found = doctor()
        assert found["stalled jobs"]["severity"] == "ERROR"
        assert "SUGGEST" in found["stalled jobs"]["value"]
        assert found["left over"]["severity"] == "WARNING"
        assert scene.worker.queue.consumer in found["left over"]["value"]
        with contextlib.closing(ScriptedWorker(redis_url)) as other:
            assert other.queue.recover().lost == 1
            assert other.queue.forget_workers(silence_s=0) == 1
        assert inspection.workers(scene.worker.client, 1) == []
        (job,) = inspection.jobs(scene.worker.client, 1)
        assert (job.state, job.lost) == (inspection.JobState.QUEUED, 1)

    play(redis_url, act)


def test_dead_letters_are_found(redis_url: str, doctor: Doctor) -> None:
    async def act(scene: Scene) -> None:
        await new(scene)
        scene.worker.queue.fail(claim_of(scene, "PREPARE"), "OUT_OF_MEMORY", "No.", final=True)
        found = doctor()["dead letters"]
        assert (found["severity"], found["value"]) == ("WARNING", "1 OUT_OF_MEMORY")
        assert "svddtune jobs retry" in found["advice"]

    play(redis_url, act)


@pytest.mark.parametrize("state", ["PREPARING", "LABELING", "ESTIMATING"])
def test_session_whose_job_got_lost_is_found_and_goes_on_once_it_is_requeued(
    redis_url: str, doctor: Doctor, state: str
) -> None:
    async def act(scene: Scene) -> None:
        if state == "PREPARING":
            session_id = await new(scene)
        else:
            session_id = await scene.answered_session()
        if state == "ESTIMATING":
            scene.worker.work_off()
            await scene.sessions.finish(session_id)
        assert (await scene.sessions.get(session_id)).state.value == state
        assert doctor()["sessions"]["severity"] == "OK"
        scene.worker.client.delete(*scene.worker.client.keys("*:q:*"))
        scene.worker.queue.prepare()
        found = doctor()["sessions"]
        assert found["severity"] == "ERROR"
        assert session_id in found["value"]
        assert run(["jobs", "requeue", session_id, "--redis", redis_url]) == 0
        queued = inspection.jobs(scene.worker.client, 1)
        assert doctor()["sessions"]["severity"] == "OK"
        # Nothing is queued twice.
        assert run(["jobs", "requeue", session_id, "--redis", redis_url]) == 0
        assert inspection.jobs(scene.worker.client, 1) == queued
        scene.worker.work_off()
        end = SessionState.COMPLETED if state == "ESTIMATING" else SessionState.LABELING
        assert (await scene.sessions.get(session_id)).state is end
        assert await scene.lease(session_id) or end is SessionState.COMPLETED

    play(redis_url, act)


def test_absent_service_is_found(doctor: Doctor) -> None:
    found = doctor("--server", "127.0.0.1:1")["service"]
    assert found["severity"] == "ERROR"
    assert "127.0.0.1:1" in found["value"]


def certificate(folder: Path, host: str, days: int) -> tuple[Path, Path]:
    """Make a certificate for a host that expires in so many days; the paths of it and its key."""
    issued = trustme.CA().issue_cert(host, not_after=datetime.now(UTC) + timedelta(days, 60))
    cert, key = folder / f"{host}.pem", folder / f"{host}.key"
    cert.write_bytes(issued.cert_chain_pems[0].bytes())
    key.write_bytes(issued.private_key_pem.bytes())
    key.chmod(0o600)
    return cert, key


@pytest.mark.parametrize(("days", "severity"), [(90, "OK"), (7, "WARNING"), (-1, "ERROR")])
def test_expiry_of_a_certificate_is_found(
    doctor: Doctor, tmp_path: Path, days: int, severity: str
) -> None:
    cert, key = certificate(tmp_path, "labels.example.com", days)
    found = doctor("--tls-cert", str(cert), "--tls-key", str(key), "--host", "labels.example.com")
    assert found["certificate"]["severity"] == severity
    assert found["key"]["severity"] == found["key file"]["severity"] == "OK"
    assert found["host name"]["severity"] == "OK"


def test_certificate_of_another_host_and_foreign_key_are_found(
    doctor: Doctor, tmp_path: Path
) -> None:
    cert, _ = certificate(tmp_path, "labels.example.com", 90)
    _, key = certificate(tmp_path, "other.example.com", 90)
    key.chmod(0o644)
    found = doctor("--tls-cert", str(cert), "--tls-key", str(key), "--host", "other.example.com")
    assert found["host name"]["severity"] == "ERROR"
    assert "labels.example.com" in found["host name"]["value"]
    assert found["key"]["severity"] == "ERROR"
    assert found["key file"]["advice"] == f"chmod 600 {key}"


def test_files_that_are_none_are_found(doctor: Doctor, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no certificate")
    assert doctor("--tls-cert", str(text))["certificate"]["severity"] == "ERROR"
    assert doctor("--tls-cert", str(tmp_path / "gone"))["certificate"]["severity"] == "ERROR"
    assert doctor("--tokens", str(tmp_path / "gone"))["token file"]["severity"] == "ERROR"
    text.chmod(0o640)
    assert "0640" in doctor("--tokens", str(text))["token file"]["value"]


def test_table_fits_80_columns_and_counts(
    redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--redis", redis_url]) == 2
    text = capsys.readouterr().out
    assert all(len(line) <= 80 for line in text.splitlines())
    rows = text.splitlines()
    errors, warnings = (sum(row.startswith(kind) for row in rows) for kind in ("error", "warning"))
    assert errors == 1
    assert rows[-1] == f"1 error, {warnings} warning{'' if warnings == 1 else 's'}."


@pytest.mark.slow
def test_fault_of_one_master_of_a_cluster_is_found(
    redis_cluster: RunningCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    at_fault = redis_cluster.masters[1]
    with at_fault.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        run(["doctor", "--redis", redis_cluster.url, "--partitions", "6", "--json"])
        client.config_set("maxmemory-policy", "noeviction")
    findings = json.loads(capsys.readouterr().out)["findings"]
    found = {one["value"]: one["severity"] for one in findings if one["check"] == "eviction"}
    assert len(found) == 3
    assert found.pop(f"127.0.0.1:{at_fault.port}: maxmemory-policy is allkeys-lru") == "ERROR"
    assert set(found.values()) == {"OK"}
