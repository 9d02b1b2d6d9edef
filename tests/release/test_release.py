"""``tools/release.py`` builds complete files, the same from the same sources."""

import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc
from tools.protoc import ROOT
from tools.release import PARTS, VERSION
from tools.toolchains import works

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

CLIENTS = [name for name, (_, program, _) in PARTS.items() if program]
OFFLINE = [name for name in PARTS if name not in CLIENTS]


def release(out: Path, *parts: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.release", "--out", out, *parts],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts that need Python alone."""
    out = tmp_path_factory.mktemp("release")
    done = release(out, *OFFLINE)
    assert done.returncode == 0, done.stderr
    return out


def test_release_has_every_file_of_the_python_parts(built: Path) -> None:
    names = {path.name for path in built.iterdir()}
    assert names == {
        *(
            f"{name}-{VERSION}{end}"
            for name in ("svddtune", "svddtune_client", "svddtune_evaluation")
            for end in (".tar.gz", "-py3-none-any.whl")
        ),
        f"svddtune-protos-{VERSION}.tar.gz",
        f"svddtune-{VERSION}.cdx.json",
        "svddtune.binpb",
        f"svddtune-{VERSION}-notes.md",
        "SHA256SUMS",
    }


def test_checksums_are_those_of_the_files(built: Path) -> None:
    lines = [line.split("  ") for line in (built / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in lines} == {path.name for path in built.iterdir()} - {"SHA256SUMS"}
    for figure, name in lines:
        assert hashlib.sha256((built / name).read_bytes()).hexdigest() == figure


def test_second_build_gives_the_same_files(built: Path, tmp_path: Path) -> None:
    done = release(tmp_path / "again", *OFFLINE)
    assert done.returncode == 0, done.stderr
    again = (tmp_path / "again" / "SHA256SUMS").read_text()
    assert again == (built / "SHA256SUMS").read_text()


def test_proto_archive_compiles_by_itself(built: Path, tmp_path: Path) -> None:
    with tarfile.open(built / f"svddtune-protos-{VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (root,) = tmp_path.iterdir()
    for name in ("LICENSE", "service_config.json", "openapi.json"):
        assert (root / name).exists()
    assert (root / "google" / "rpc" / "error_details.proto").exists()
    assert not list(root.rglob("jobs.proto"))
    out = tmp_path / "out.binpb"
    protos = [str(path) for path in root.rglob("*.proto")]
    assert protoc.main(["protoc", f"-I{root}", f"--descriptor_set_out={out}", *protos]) == 0


def test_descriptor_set_has_all_imports_and_comments(built: Path) -> None:
    held = FileDescriptorSet.FromString((built / "svddtune.binpb").read_bytes()).file
    names = {file.name for file in held}
    assert {"svddtune/v1/oracle.proto", "google/rpc/status.proto"} <= names
    assert all(name in names for file in held for name in file.dependency)
    (oracle,) = (file for file in held if file.name == "svddtune/v1/oracle.proto")
    assert any("Labelers" in one.leading_comments for one in oracle.source_code_info.location)


def test_bill_of_materials_lists_what_an_installation_brings(built: Path) -> None:
    bill = json.loads((built / f"svddtune-{VERSION}.cdx.json").read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "svddtune"
    held = {one["name"] for one in bill["components"]}
    assert {"svddtune-client", "grpcio", "scikit-learn", "numpy", "onnx", "matplotlib"} <= held
    assert not {"pytest", "mypy", "hypothesis"} & held


@pytest.mark.packages
@pytest.mark.parametrize("part", CLIENTS)
def test_package_of_another_language_is_built(part: str, tmp_path: Path) -> None:
    _, program, folder = PARTS[part]
    if not works(program):
        pytest.skip(f"no {program}")
    if not (ROOT / folder).exists():
        pytest.skip(f"no {folder}")
    done = release(tmp_path / "out", part)
    assert done.returncode == 0, done.stderr
    assert [path for path in (tmp_path / "out").iterdir() if VERSION in path.name]


def test_missing_toolchain_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.release", "--out", tmp_path / "out", *CLIENTS],
        env={"PATH": "/nowhere", "SOURCE_DATE_EPOCH": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for part in CLIENTS:
        assert f"no {PARTS[part][1]}: {PARTS[part][2]} is left out" in done.stdout


def test_unknown_part_is_refused(tmp_path: Path) -> None:
    done = release(tmp_path / "out", "nonsense")
    assert done.returncode == 2
    assert "there is no part nonsense" in done.stderr
    assert not (tmp_path / "out").exists()
