"""Prometheus reads from a service and a worker what happened there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from tests.e2e.observed import ANSWERS, Observed, label, observed, read, value
from tests.waiting import wait_until

from svddtune.client import NotFound, TuningClient
from svddtune.stack import EmbeddedServer

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

ROOT = Path(__file__).parents[2]
FILES = ROOT / "deploy" / "observability"
PAGE = ROOT / "docs" / "observability.md"


@pytest.fixture(scope="module")
def running(
    redis_server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Observed]:
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    targets = tmp_path_factory.mktemp("targets")
    with observed(redis_server.url, targets) as processes:
        with TuningClient(processes.service.ready["address"]) as client:
            label(client)
            with pytest.raises(NotFound):
                client.get_session("sessions/p00-" + "0" * 20)
        # Calls and jobs are counted after the client has seen their effect.
        wait_until(lambda: _counted(processes, "TuningService/GetSession", "NOT_FOUND"))
        wait_until(lambda: _counted(processes, "OracleService/Converse", "OK"))
        done = {"kind": "ESTIMATE", "outcome": "done"}
        wait_until(lambda: value(read(processes.worker), "svddtune_jobs_total", **done) >= 1)
        yield processes
    assert list(targets.iterdir()) == []


def _counted(running: Observed, method: str, code: str) -> bool:
    return value(read(running.service), "svddtune_rpcs_total", method=method, code=code) == 1


def test_service_counts_answers_calls_and_waits(running: Observed) -> None:
    families = read(running.service)
    assert value(families, "svddtune_answers_total", verdict="outlier", applied="true") == 1
    assert value(families, "svddtune_answers_total", verdict="inlier", applied="true") == 3
    assert value(families, "svddtune_labeler_wait_seconds_count") == ANSWERS
    assert value(families, "svddtune_script_seconds_count", script="answer") == ANSWERS
    created = {"method": "TuningService/CreateSession", "code": "OK"}
    assert value(families, "svddtune_rpcs_total", **created) == 1
    missing = {"method": "TuningService/GetSession", "code": "NOT_FOUND"}
    assert value(families, "svddtune_rpcs_total", **missing) == 1
    assert value(families, "svddtune_rpcs_total", method="OracleService/Converse") == 1
    assert value(families, "svddtune_open_streams", method="OracleService/Converse") == 0
    assert value(families, "process_resident_memory_bytes") > 1e7


def test_service_shows_what_redis_holds(running: Observed) -> None:
    wait_until(lambda: value(read(running.service), "svddtune_workers", takes="all") == 1)
    families = read(running.service)
    assert value(families, "svddtune_redis_up") == 1
    assert value(families, "svddtune_redis_used_bytes") > 1e5
    assert value(families, "svddtune_jobs_queued") == 0
    assert value(families, "svddtune_dead_letters") == 0


def test_worker_counts_jobs_by_kind_and_outcome(running: Observed) -> None:
    families = read(running.worker)
    for kind in ("PREPARE", "SUGGEST", "PLAN", "ESTIMATE"):
        assert value(families, "svddtune_jobs_total", kind=kind, outcome="done") >= 1
        assert value(families, "svddtune_job_seconds_sum", kind=kind) > 0
    assert value(families, "svddtune_jobs_total", outcome="failed") == 0
    assert value(families, "svddtune_script_seconds_count", script="commit_suggest") >= 1


def test_no_label_of_a_metric_names_a_session_or_labeler(running: Observed) -> None:
    labels = {
        (name, text)
        for family in running.families().values()
        for sample in family.samples
        for name, text in sample.labels.items()
    }
    assert {name for name, _ in labels} <= {
        "applied", "code", "kind", "lane", "le", "method", "outcome", "script", "takes",
        "verdict", "version",
    }  # fmt: skip
    assert not [text for _, text in labels if "ann" == text or "p00-" in text]


def test_each_process_leaves_its_address_for_prometheus(running: Observed) -> None:
    found = [json.loads(path.read_text()) for path in running.targets.glob("*.json")]
    assert sorted(one["targets"][0] for (one,) in found) == sorted(
        process.ready["metrics"] for process in (running.service, running.worker)
    )
    assert {one["labels"]["job"] for (one,) in found} == {"svddtune-service", "svddtune-worker"}


def _shown(running: Observed) -> set[str]:
    """Names of the samples, without the buckets' suffix."""
    return {
        name
        for family in running.families().values()
        for name in (family.name, *(one.name for one in family.samples))
    } | {f"{name}_bucket" for name, one in running.families().items() if one.type == "histogram"}


@pytest.mark.parametrize("name", ["alerts.yaml", "dashboard.json"])
def test_every_metric_of_the_files_is_shown_by_a_process(running: Observed, name: str) -> None:
    named = set(re.findall(r"\b(?:svddtune|process)_[a-z_]+", (FILES / name).read_text()))
    assert named - _shown(running) == set()
    assert len(named) > 10


def test_page_lists_the_metrics(running: Observed) -> None:
    """Its table has name, labels, process and meaning of each metric, as the processes show it."""
    rows = set(re.findall(r"^\| `(svddtune_\w+)` \|.*\| (service|worker|both) \| (.*) \|$",
                          PAGE.read_text(), re.MULTILINE))  # fmt: skip
    service, worker = read(running.service), read(running.worker)
    expected = set()
    for name, family in (service | worker).items():
        if name.startswith("svddtune_"):
            suffix = "_total" if family.type == "counter" else ""
            where = "service" if name in service else "worker"
            both = name in service and name in worker
            words = family.documentation
            expected.add((name + suffix, "both" if both else where, words))
    assert rows == expected
