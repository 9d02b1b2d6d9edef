"""The wire contract is described, kept, and published as it is."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from tools import contract, describe_contract
from tools.protoc import PROTOS

from svddtune.v1 import dataset_pb2, oracle_pb2, scoring_pb2, server_pb2, tuning_pb2

MODULES = (dataset_pb2, oracle_pb2, scoring_pb2, server_pb2, tuning_pb2)
# They last as long as their client wants, and are reconnected by it.
STREAMS = {"UploadDataset", "WatchSession", "Converse", "ScoreStream", "UploadModel"}


def changed(folder: Path, old: str, new: str) -> Path:
    """A copy of the .proto files with one line of tuning.proto replaced."""
    protos = folder / "protos"
    for path in PROTOS.rglob("*.proto"):
        target = protos / path.relative_to(PROTOS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    file = protos / "svddtune" / "v1" / "tuning.proto"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return protos


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("  string latest_result = 11", "  bytes latest_result = 11", "latest_result"),
        ("  uint32 query_count = 7", "  uint32 query_total = 7", "query_count"),
        ("  SESSION_STATE_FAILED = 7;", "", "SESSION_STATE_FAILED"),
    ],
)
def test_change_that_breaks_users_of_the_last_version_is_found(
    tmp_path: Path, old: str, new: str, fault: str
) -> None:
    protos = changed(tmp_path, old, new)
    against = contract.last_recorded()
    assert against is not None
    assert fault in contract.faults(protos, against)


def test_field_without_a_comment_is_found(tmp_path: Path) -> None:
    protos = changed(tmp_path, "message Failure {", "message Failure {\n  string hint = 3;")
    assert 'Field "hint" should have a non-empty comment' in contract.faults(protos)


def test_recorded_version_is_found_by_its_number(tmp_path: Path) -> None:
    assert contract.last_recorded(tmp_path) is None
    for name in ("svddtune-0.9.0.binpb", "svddtune-0.10.0.binpb"):
        (tmp_path / name).touch()
    assert contract.last_recorded(tmp_path) == tmp_path / "svddtune-0.10.0.binpb"


def test_published_descriptor_set_has_imports_and_comments_and_no_jobs(tmp_path: Path) -> None:
    contract.main(["build", str(tmp_path / "svddtune.binpb")])
    data = (tmp_path / "svddtune.binpb").read_bytes()
    by_name = {one.name: one for one in descriptor_pb2.FileDescriptorSet.FromString(data).file}
    for file in by_name.values():
        assert set(file.dependency) <= by_name.keys()
    assert not [name for name in by_name if "jobs" in name]
    assert any(
        "Starts a session" in place.leading_comments
        for place in by_name["svddtune/v1/tuning.proto"].source_code_info.location
    )


def test_page_of_the_api_is_current() -> None:
    assert describe_contract.API.read_text() == describe_contract.api(), "run make protos"


def test_page_of_errors_is_current() -> None:
    assert describe_contract.ERRORS.read_text() == describe_contract.errors(), "run make protos"


def test_all_services_are_checked() -> None:
    checked = {Path(module.DESCRIPTOR.name).name for module in MODULES}
    with_services = {
        path.name
        for path in (PROTOS / contract.PUBLIC).glob("*.proto")
        if "\nservice " in path.read_text()
    }
    assert checked == with_services


def test_service_config_covers_every_method_once() -> None:
    config = json.loads(files("svddtune.v1").joinpath("service_config.json").read_text())
    covered = [
        (name["service"], name["method"]) for one in config["methodConfig"] for name in one["name"]
    ]
    known = [
        (service.full_name, method.name)
        for module in MODULES
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]
    assert sorted(covered) == sorted(known)


def test_service_config_has_deadlines_for_all_but_streams_and_bounded_retries() -> None:
    config = json.loads(files("svddtune.v1").joinpath("service_config.json").read_text())
    for one in config["methodConfig"]:
        methods = {name["method"] for name in one["name"]}
        assert ("timeout" in one) == methods.isdisjoint(STREAMS)
        if "retryPolicy" in one:
            retry = one["retryPolicy"]
            assert methods.isdisjoint(STREAMS)
            assert (retry["initialBackoff"], retry["maxBackoff"]) == ("0.1s", "30s")
            assert retry["retryableStatusCodes"] == ["UNAVAILABLE"]
