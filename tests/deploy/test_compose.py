"""The Compose file follows its schema, and its processes accept their settings."""

from pathlib import Path
from typing import Any

import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema.validators import validator_for
from tests.deploy.files import compose, settings

from svddtune.service.server import CALLS_END_S, DRAIN_S
from svddtune.service.settings import Settings as ServiceSettings
from svddtune.worker.settings import Settings as WorkerSettings

SERVICES = compose()["services"]
PROCESSES = {"service": "service", "worker": "worker", "worker-urgent": "worker"}
CONTENT = {"tokens": '{"format": 1, "tokens": []}'}
MIB = {"m": 1, "g": 1024}


def faults(content: dict[str, Any]) -> list[str]:
    """What the schema of the Compose specification finds wrong with a file."""
    schema = get_builtin_schema("vendor.compose-spec")
    return [one.message for one in validator_for(schema)(schema).iter_errors(content)]


def mib(size: str) -> int:
    return int(size[:-1]) * MIB[size[-1]]


def process_settings(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> ServiceSettings | WorkerSettings:
    environment = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
    environment["SVDDTUNE_REDIS"] = environment["SVDDTUNE_REDIS"].replace(
        "${SVDDTUNE_REDIS_PASSWORD:?choose a password of letters and digits}", "abc123"
    )
    for key, value in environment.items():
        if value.startswith("/run/secrets/"):
            secret = value.removeprefix("/run/secrets/")
            assert secret in SERVICES[name]["secrets"]
            (tmp_path / secret).write_text(CONTENT.get(secret, ""))
            environment[key] = str(tmp_path / secret)
    if name != "service":
        environment["SVDDTUNE_ALIVE_FILE"] = str(tmp_path / "alive")
    made = settings(monkeypatch, PROCESSES[name], environment)
    assert isinstance(made, ServiceSettings | WorkerSettings)
    return made


def test_compose_file_follows_the_schema() -> None:
    assert faults(compose()) == []


def test_unknown_field_of_compose_file_is_noticed() -> None:
    wrong = {**SERVICES["service"], "grace_period": "15s"}
    assert "grace_period" in faults({"services": {"service": wrong}})[0]


@pytest.mark.parametrize("name", SERVICES)
def test_all_that_a_container_names_is_defined(name: str) -> None:
    one, whole = SERVICES[name], compose()
    named = [part.split(":")[0] for part in one.get("volumes", ())]
    assert [part for part in named if part not in whole["volumes"]] == []
    assert [part for part in one.get("secrets", ()) if part not in whole["secrets"]] == []
    # (Compose makes the network "default" itself.)
    networks = {*whole["networks"], "default"}
    assert [part for part in one["networks"] if part not in networks] == []
    for other, how in one.get("depends_on", {}).items():
        assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[other]


def test_all_that_is_defined_is_used() -> None:
    whole = compose()
    for kind in ("volumes", "secrets", "networks"):
        used = {part.split(":")[0] for one in SERVICES.values() for part in one.get(kind, ())}
        assert set(whole[kind]) <= used


@pytest.mark.parametrize("name", [name for name, one in SERVICES.items() if "ports" in one])
def test_there_is_a_port_of_the_machine_for_each_container(name: str) -> None:
    for published in SERVICES[name]["ports"]:
        first, _, last = published.split(":")[0].partition("-")
        assert int(last) - int(first) + 1 == SERVICES[name]["deploy"]["replicas"]


def test_there_are_two_services_and_three_workers() -> None:
    replicas = {name: one.get("deploy", {}).get("replicas", 1) for name, one in SERVICES.items()}
    assert replicas == {"valkey": 1, "service": 2, "worker": 2, "worker-urgent": 1}


@pytest.mark.parametrize("name", PROCESSES)
def test_process_accepts_its_settings(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = process_settings(name, monkeypatch, tmp_path)
    assert made.redis == "redis://:abc123@valkey:6379/0"
    if isinstance(made, WorkerSettings):
        assert made.hi_only is (name == "worker-urgent")
        assert mib(SERVICES[name]["mem_limit"]) >= 1.25 * made.memory_mib
        assert str(made.dataset_cache) in {one.split(":")[1] for one in SERVICES[name]["volumes"]}
        assert int(SERVICES[name]["stop_grace_period"][:-1]) >= 2 * made.grace_s
    else:
        assert not made.insecure
        assert int(SERVICES[name]["stop_grace_period"][:-1]) >= 2 * (DRAIN_S + CALLS_END_S)


@pytest.mark.parametrize("name", SERVICES)
def test_container_cannot_change_its_files_nor_gain_rights(name: str) -> None:
    one = SERVICES[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]


def test_valkey_is_durable_and_reached_by_the_processes_alone() -> None:
    command = SERVICES["valkey"]["command"]
    assert {"--appendonly yes", "--appendfsync always", "--maxmemory-policy noeviction"} <= {
        *command
    }
    assert "ports" not in SERVICES["valkey"]
    assert SERVICES["valkey"]["networks"] == ["store"]
    assert compose()["networks"]["store"]["internal"] is True
