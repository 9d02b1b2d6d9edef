"""The files for deployments, and what the processes make of the settings in them."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.prose import ROOT

from svddtune.process.settings import ProcessSettings, read_settings
from svddtune.service.settings import Settings as ServiceSettings
from svddtune.worker.settings import Settings as WorkerSettings

DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
PROGRAMS: dict[str, type[ProcessSettings]] = {"service": ServiceSettings, "worker": WorkerSettings}


def compose(path: Path = DEPLOY / "compose.yaml") -> dict[str, Any]:
    """The Compose file."""
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    return content


def manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the files for Kubernetes with the name of its file, in order."""
    for path in sorted(KUBERNETES.rglob("*.yaml")):
        if path.name != "kustomization.yaml":
            for content in yaml.safe_load_all(path.read_text()):
                yield str(path.relative_to(KUBERNETES)), content


def image_environment(target: str) -> dict[str, str]:
    """The settings that the Dockerfile gives an image, ``service`` or ``worker``."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    stages = re.split(r"^FROM ", text, flags=re.MULTILINE)
    by_name = {stage.partition("\n")[0].rpartition(" ")[2]: stage for stage in stages}
    pairs = re.findall(r"(SVDDTUNE_\w+)=(\S+)", by_name["base"] + by_name[target])
    return dict(pairs)


def settings(
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    environment: Mapping[str, str],
    arguments: list[str] | None = None,
) -> ProcessSettings:
    """What a process of an image makes of its settings. Raises SettingsError.

    Every name has to be that of a setting.
    """
    for name in [one for one in os.environ if one.startswith("SVDDTUNE_")]:
        monkeypatch.delenv(name)
    whole = image_environment(target) | dict(environment)
    known = {f"SVDDTUNE_{name.upper()}" for cls in PROGRAMS.values() for name in cls.model_fields}
    assert set(whole) <= known
    for name, value in whole.items():
        monkeypatch.setenv(name, value)
    return read_settings(PROGRAMS[target], arguments or [], program=target)
