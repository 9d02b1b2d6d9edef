"""What Kustomize makes of the files for Kubernetes is what they say."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.files import KUBERNETES
from tests.deploy.test_kubernetes import VERSIONS, container, faults, finds
from tests.prose import ROOT

KUSTOMIZE = ROOT / ".tools" / "kustomize"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.skipif(not KUSTOMIZE.exists(), reason="`make kustomize` installs Kustomize"),
]


def rendered(overlay: str | Path) -> list[dict[str, Any]]:
    command: list[str | Path] = [KUSTOMIZE, "build", KUBERNETES / overlay]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize("overlay", ["production", "trial"])
def test_objects_of_overlay_follow_the_schemas_and_are_in_one_namespace(overlay: str) -> None:
    objects = rendered(overlay)
    wrong = {one["metadata"]["name"]: faults(one, VERSIONS[-1]) for one in objects}
    assert [(name, found) for name, found in wrong.items() if found] == []
    assert {one["metadata"]["namespace"] for one in objects} == {"svddtune"}


@pytest.mark.parametrize("overlay", ["production", "trial"])
def test_processes_of_overlay_get_the_settings_by_their_generated_name(overlay: str) -> None:
    objects = rendered(overlay)
    (settings,) = [one["metadata"]["name"] for one in objects if one["kind"] == "ConfigMap"]
    assert settings.startswith("svddtune-")
    used = [container(one)["envFrom"] for one in objects if one["kind"] == "Deployment"]
    assert used == [[{"configMapRef": {"name": settings}}]] * 3


def test_production_has_images_of_a_registry_and_scales_what_it_has() -> None:
    objects = rendered("production")
    deployments = [one for one in objects if one["kind"] == "Deployment"]
    images = {container(one)["image"].partition("/")[0] for one in deployments}
    assert images == {"registry.example.org"}
    scaled = {
        one["spec"]["scaleTargetRef"]["name"]
        for one in objects
        if one["kind"] in ("ScaledObject", "HorizontalPodAutoscaler")
    }
    assert scaled < {one["metadata"]["name"] for one in deployments}
    assert "StatefulSet" not in {one["kind"] for one in objects}


def of_kind(objects: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [one for one in objects if one["kind"] in kinds]


def test_monitoring_lets_prometheus_read_each_process_once(tmp_path: Path) -> None:
    places = {name: os.path.relpath(KUBERNETES / name, tmp_path) for name in ("base", "monitoring")}
    overlay = {"resources": [places["base"]], "components": [places["monitoring"]]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    objects = rendered(tmp_path)
    assert [found for one in objects if (found := faults(one, VERSIONS[-1]))] == []
    (common,) = of_kind(objects, "ConfigMap")
    deployments = of_kind(objects, "Deployment")
    services, pods = of_kind(objects, "ServiceMonitor"), of_kind(objects, "PodMonitor")
    (policy,) = [one for one in objects if one["metadata"]["name"] == "svddtune-metrics"]
    read: list[str] = []
    for one in deployments:
        labels = one["spec"]["template"]["metadata"]["labels"]
        (port,) = [
            port["containerPort"] for port in container(one)["ports"] if port["name"] == "metrics"
        ]
        assert common["data"]["SVDDTUNE_METRICS_LISTEN"] == f"0.0.0.0:{port}"
        assert finds(policy["spec"]["podSelector"], labels)
        read += [one["metadata"]["name"] for monitor in pods if finds(spec(monitor), labels)]
        read += [
            one["metadata"]["name"]
            for monitor in services
            for service in of_kind(objects, "Service")
            if finds(spec(monitor), service["metadata"]["labels"])
            and finds(spec(service), labels)
            and "metrics" in [port["targetPort"] for port in service["spec"]["ports"]]
        ]
        assert labels[pods[0]["spec"]["jobLabel"]] == one["metadata"]["name"]
    assert sorted(read) == sorted(one["metadata"]["name"] for one in deployments)


def spec(one: dict[str, Any]) -> dict[str, Any]:
    selector: dict[str, Any] = one["spec"]["selector"]
    return selector
