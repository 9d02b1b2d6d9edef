"""The files for Kubernetes follow the schemas, and fit the processes that they start."""

import importlib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from tests.deploy.files import KUBERNETES, manifests, settings
from tests.state.scene import Scene, play

from svddtune.config import SessionConfig
from svddtune.service.server import CALLS_END_S, DRAIN_S
from svddtune.service.settings import Settings as ServiceSettings
from svddtune.state import keys
from svddtune.worker.settings import Settings as WorkerSettings

# The oldest version that the files are for, and the newest whose schemas are there.
VERSIONS = ("1.30", "1.37")
# Models of objects that Kubernetes itself does not have.
MODELS = {
    "keda.sh/v1alpha1": "cloudcoil.models.keda.v1alpha1",
    "monitoring.coreos.com/v1": "cloudcoil.models.prometheus_operator.v1",
}
OBJECTS = [
    pytest.param(content, id=f"{file}:{content['kind']}:{content['metadata']['name']}")
    for file, content in manifests()
]
DEPLOYMENTS = [one for _, one in manifests() if one["kind"] == "Deployment"]
PODS = [
    pytest.param(one, id=one["metadata"]["name"])
    for _, one in manifests()
    if one["kind"] in ("Deployment", "StatefulSet")
]
UNITS = {"Mi": 1, "Gi": 1024}


def faults(content: dict[str, Any], version: str) -> str:
    """What is wrong with an object; empty for nothing."""
    if module := MODELS.get(content["apiVersion"]):
        # The models ignore fields that they do not know.
        model = getattr(importlib.import_module(module), content["kind"])
        try:
            known = model.model_validate(content).model_dump(
                mode="json", by_alias=True, exclude_unset=True
            )
        except ValueError as error:
            return str(error)
        return "" if known == content else f"unknown fields: {known} is not {content}"
    try:
        kubernetes_validate.validate(content, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return str(error)
    return ""


def container(deployment: dict[str, Any]) -> dict[str, Any]:
    (one,) = deployment["spec"]["template"]["spec"]["containers"]
    assert isinstance(one, dict)
    return one


def common_settings() -> dict[str, str]:
    """The settings of all processes, with those for monitoring."""
    found: dict[str, str] = {}
    for folder in ("base", "monitoring"):
        content = yaml.safe_load((KUBERNETES / folder / "kustomization.yaml").read_text())
        (generator,) = content["configMapGenerator"]
        found |= dict(one.split("=", 1) for one in generator["literals"])
    return found


def mib(size: str) -> int:
    return int(size[:-2]) * UNITS[size[-2:]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("content", OBJECTS)
def test_object_follows_the_schema(content: dict[str, Any], version: str) -> None:
    assert faults(content, version) == ""


@pytest.mark.parametrize("content", OBJECTS)
def test_unknown_field_is_noticed(content: dict[str, Any]) -> None:
    wrong = content | {"spec": content["spec"] | {"nonsense": 1}}
    assert "nonsense" in faults(wrong, VERSIONS[-1])


def test_every_file_is_named_by_a_kustomization() -> None:
    named = set()
    for path in KUBERNETES.rglob("kustomization.yaml"):
        content = yaml.safe_load(path.read_text())
        for one in (*content.get("resources", ()), *content.get("components", ())):
            named.add((path.parent / one).resolve())
    files = {path for path in KUBERNETES.rglob("*.yaml") if path.name != "kustomization.yaml"}
    assert files <= named
    assert {path for path in named if not path.exists()} == set()


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_process_accepts_its_settings(
    deployment: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, environment = container(deployment), common_settings()
    mounts = [mount["mountPath"] for mount in one["volumeMounts"]]
    for variable in one["env"]:
        value = variable.get("value", "redis://valkey:6379/0")
        if value.startswith("/etc/svddtune/"):
            assert str(Path(value).parent) in mounts
            secret = tmp_path / Path(value).name
            secret.write_text("")
            value = str(secret)
        environment[variable["name"]] = value
    if one["name"] == "worker":
        environment["SVDDTUNE_ALIVE_FILE"] = str(tmp_path / "alive")
    made = settings(monkeypatch, one["name"], environment, one.get("args"))
    assert made.metrics_listen == "0.0.0.0:9464"
    grace_s = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    if isinstance(made, WorkerSettings):
        assert made.hi_only is deployment["metadata"]["name"].endswith("urgent")
        assert mib(one["resources"]["limits"]["memory"]) >= 1.25 * made.memory_mib
        assert str(made.dataset_cache) in mounts
        assert mib(one["resources"]["limits"]["ephemeral-storage"]) > made.dataset_cache_mib
        assert grace_s >= 2 * made.grace_s
    else:
        assert isinstance(made, ServiceSettings)
        assert not made.insecure
        pause_s = int(one["lifecycle"]["preStop"]["exec"]["command"][1])
        assert grace_s >= pause_s + 2 * (DRAIN_S + CALLS_END_S)
        ports = {port["name"]: port["containerPort"] for port in one["ports"]}
        assert made.listen == f"0.0.0.0:{ports['grpc']}"
        assert made.http_listen == f"0.0.0.0:{ports['http']}"


@pytest.mark.parametrize("content", PODS)
def test_pod_cannot_change_its_files_nor_gain_rights(content: dict[str, Any]) -> None:
    pod = content["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    rights = container(content)["securityContext"]
    assert rights["readOnlyRootFilesystem"] is True
    assert rights["allowPrivilegeEscalation"] is False
    assert rights["capabilities"] == {"drop": ["ALL"]}


def finds(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether a selector finds an object with labels."""
    exact = selector.get("matchLabels", {} if "matchExpressions" in selector else selector)
    lists = {one["key"]: one["values"] for one in selector.get("matchExpressions", ())}
    return exact.items() <= labels.items() and all(
        labels.get(key) in values for key, values in lists.items()
    )


def test_every_selector_finds_what_it_is_for() -> None:
    objects = [one for _, one in manifests()]
    pods = [
        one["spec"]["template"]["metadata"]["labels"]
        for one in objects
        if one["kind"] in ("Deployment", "StatefulSet")
    ]
    services = [one["metadata"].get("labels", {}) for one in objects if one["kind"] == "Service"]
    missed = [
        f"{one['kind']} {one['metadata']['name']}"
        for one in objects
        for selector in (one["spec"].get("selector"), one["spec"].get("podSelector"))
        if selector
        and not any(
            finds(selector, labels)
            for labels in (services if one["kind"] == "ServiceMonitor" else pods)
        )
    ]
    assert missed == []


@pytest.mark.integration
def test_triggers_of_the_scaler_count_the_jobs_that_run_and_the_owners_that_wait(
    redis_url: str,
) -> None:
    (scaled,) = [one for _, one in manifests() if one["kind"] == "ScaledObject"]
    triggers = {one["name"]: one for one in scaled["spec"]["triggers"]}
    assert scaled["spec"]["advanced"]["scalingModifiers"]["formula"] == " + ".join(triggers)
    names = {
        name: one["metadata"].get("stream") or one["metadata"]["listName"]
        for name, one in triggers.items()
    }
    assert {keys.group_of(name) for name in names.values()} == {"queue"}

    async def act(scene: Scene) -> None:
        async def counts() -> dict[str, int]:
            # As KEDA does: the length of a stream, and of a list or a sorted set by its type.
            found = {}
            for name, key in names.items():
                stream = triggers[name]["type"] == "redis-streams"
                kind = (await scene.client.type(key)).decode()
                assert kind in ("none", "stream" if stream else "zset")
                found[name] = await (scene.client.xlen if stream else scene.client.zcard)(key)
            return found

        assert sum((await counts()).values()) == 0
        await scene.upload()
        config = SessionConfig(budget=6, strategy="lama")
        await scene.sessions.create(scene.dataset_id, config, observation_count=12)
        waiting = await counts()
        assert waiting == {"urgent": 0, "running": 0, "waiting": 1}
        claim = scene.worker.next_claim()
        assert claim is not None
        assert (await counts())["running"] == 1
        scene.worker.do(claim)
        scene.worker.work_off()
        assert sum((await counts()).values()) == 0

    play(redis_url, act)
