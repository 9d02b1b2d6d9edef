"""Every package of the project has the version of the file ``VERSION``."""

import re
from pathlib import Path

import pytest
from tests.prose import tracked_files
from tools.set_version import MANIFESTS, ROOT, SEMANTIC, VERSION, present, versions, with_version

import svddtune

NOW = VERSION.read_text().strip()
# What names a release because it is about that one, or as an example, or is made from others.
OF_ONE_RELEASE = {
    "CHANGELOG.md",
    "VERSION",
    "client/go/svddtunepb/oracle.pb.go",
    "client/go/svddtunepb/server.pb.go",
    "client/svddtune/client/types.py",
    "docs/api.md",
    "docs/conformance.md",
    "docs/releasing.md",
    "docs/versioning.md",
    "protos/svddtune/v1/oracle.proto",
    "protos/svddtune/v1/server.proto",
    "service/svddtune/service/http/openapi.json",
    "tests/release/test_version.py",
}
# Versions of other packages.
LOCKS = {"constraints.txt", "Cargo.lock", "package-lock.json", "go.mod", "go.sum"}


def test_version_is_three_numbers() -> None:
    assert SEMANTIC.fullmatch(NOW)
    assert svddtune.__version__ == NOW


@pytest.mark.parametrize("path", present(), ids=lambda path: str(path.relative_to(ROOT)))
def test_manifest_has_the_version(path: Path) -> None:
    patterns = MANIFESTS[str(path.relative_to(ROOT))]
    text = path.read_text()
    assert set(versions(text, patterns)) == {NOW}, "run tools/set_version.py"
    changed = with_version(text, patterns, "97.98.99")
    assert set(versions(changed, patterns)) == {"97.98.99"}
    assert with_version(changed, patterns, NOW) == text


def test_no_other_file_states_the_version() -> None:
    stated = re.compile(rf"(?<![\w.])(?<!>=)v?{re.escape(NOW)}(?!\w)".encode())
    wrong = [
        name
        for name in map(str, tracked_files())
        if name not in OF_ONE_RELEASE
        and Path(name).name not in LOCKS
        and stated.search(_without_known_places(name))
    ]
    assert wrong == [], "tell tools/set_version.py of these files"


def _without_known_places(name: str) -> bytes:
    if patterns := MANIFESTS.get(name):
        return with_version((ROOT / name).read_text(), patterns, "").encode()
    return (ROOT / name).read_bytes()


def test_changelog_begins_with_the_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None
    assert first[1] == NOW
