"""The OpenAPI document is current and served, and the service keeps to it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.processes import Process
from tests.service.harness import Harness
from tests.service.test_http import RULES

ROOT = Path(__file__).parents[2]
STORED = ROOT / "service" / "svddtune" / "service" / "http" / "openapi.json"
DOCUMENT = json.loads(STORED.read_text())
OPERATIONS = [
    (verb.upper(), path, operation)
    for path, verbs in DOCUMENT["paths"].items()
    for verb, operation in verbs.items()
]
# Number of random requests for each operation.
EXAMPLES = int(os.environ.get("SVDDTUNE_SCHEMATHESIS_EXAMPLES", "5"))


def test_document_is_current(tmp_path: Path) -> None:
    made = tmp_path / "openapi.json"
    subprocess.run([sys.executable, "-m", "tools.generate_openapi", made], cwd=ROOT, check=True)
    assert made.read_text() == STORED.read_text()


def test_document_has_every_rule_once() -> None:
    assert len(OPERATIONS) == len(RULES)
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(names)) == len(names)
    methods = {f"{one.method.containing_service.name}_{one.method.name}" for one in RULES}
    assert {re.sub(r"_\d+$", "", name) for name in names} == methods


def test_every_operation_is_described() -> None:
    assert [path for _, path, operation in OPERATIONS if not operation.get("description")] == []


def test_every_reference_leads_to_a_schema() -> None:
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', STORED.read_text()))
    assert named == set(DOCUMENT["components"]["schemas"])


@pytest.mark.integration
def test_document_is_served(web: httpx.Client) -> None:
    assert web.get("/openapi.json").json() == DOCUMENT


@pytest.mark.integration
@pytest.mark.parametrize(
    ("verb", "path", "operation"), OPERATIONS, ids=[f"{one[0]} {one[1]}" for one in OPERATIONS]
)
def test_every_path_leads_to_a_call(
    web: httpx.Client, verb: str, path: str, operation: dict[str, Any]
) -> None:
    target = re.sub(r"\{\w+\}", "none", path)
    kind = next(iter(operation.get("requestBody", {"content": {"": {}}})["content"]))
    response = web.request(verb, target, headers={"Content-Type": kind}, content=b"{}")
    assert response.status_code < 500
    reasons = [one.get("reason") for one in response.json().get("error", {}).get("details", [])]
    assert not {"UNKNOWN_PATH", "METHOD_NOT_ALLOWED"} & set(reasons)


# What schemathesis cannot make (lines of JSON), what would delete the session that all calls name,
# what would wait, and what needs a model that a real worker has fitted.
LEFT_OUT = (
    *("UploadDataset", "UploadModel", "DeleteSession", "WatchSession", "OracleService_Lease_2"),
    *("ScoringService_Score$", "ScoringService_GetModel_2", "ScoringService_DownloadModel"),
)


@pytest.mark.integration
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_random_requests_are_answered_as_the_document_says(
    harness: Harness, service_process: Process, tmp_path: Path
) -> None:
    session = harness.completed()
    known = {
        "session": session.name.partition("/")[2],
        "dataset": session.dataset.partition("/")[2],
        "result": "1",
    }
    lines = [f'"path.{key}" = "{name}"' for key, name in known.items()]
    (tmp_path / "schemathesis.toml").write_text("\n".join(["[parameters]", *lines]))
    checks = (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run"),
            f"{service_process.ready['http']}/openapi.json",
            *("--exclude-operation-id-regex", "|".join(LEFT_OUT)),
            *("--checks", ",".join(checks), "--phases", "coverage,fuzzing"),
            *("--max-examples", str(EXAMPLES), "--seed", "1", "--request-timeout", "70"),
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    tested = re.search(r"Tested: (\d+)", done.stdout)
    assert tested is not None
    assert int(tested[1]) > 20
