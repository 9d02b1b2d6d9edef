"""The Python examples on the pages run. docs/many-labelers.md has a test of its own."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.client.scene import blob

from svddtune import EmbeddedStack, SvddModel, TuningClient

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
X, Y = blob(90)
IDS = [f"row-{row}" for row in range(len(X))]


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def readme() -> dict[str, Any]:
    return {"looks_odd": lambda features: max(features) > 1}


def oracles() -> dict[str, Any]:
    lines = [
        {
            "IncidentName": name,
            "IncidentNumber": number,
            "Status": "Closed",
            "Classification": "TruePositive" if Y[number] < 0 else "BenignPositive",
            "ClassificationReason": "SuspiciousActivity"
            if Y[number] < 0
            else "SuspiciousButExpected",
            "LastModifiedTime": "2026-01-01T00:00:00Z",
        }
        for number, name in enumerate(IDS)
    ]
    Path("incidents.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"X": X, "ids": IDS}


def planning() -> dict[str, Any]:
    known = {str(row): int(Y[row]) for row in range(0, len(X), 2)}
    return {"X": X, "known_labels": known, "rule": lambda query: int(Y[query.row])}


def alert_router() -> dict[str, Any]:
    display = [{"summary": name} for name in IDS]
    return {"X": X, "alert_ids": IDS, "what_analysts_see": display}


PAGES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "README.md": readme,
    "docs/oracles.md": oracles,
    "docs/planning.md": planning,
    "examples/alert_router/README.md": alert_router,
}
ELSEWHERE = {
    "docs/many-labelers.md",  # tests/client/test_many_labelers_page.py
    "docs/webhooks.md",  # tests/client/webhooks/test_signature.py
}


def test_every_page_with_python_examples_is_tested() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/*.md")]
    named = {str(page.relative_to(ROOT)) for page in pages}
    assert {name for name in named if examples(name)} == {*PAGES, *ELSEWHERE}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_python_examples_on_page_run(
    page: str,
    stack: EmbeddedStack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    names = PAGES[page]()
    for block in examples(page):
        exec(block.replace("127.0.0.1:50051", stack.address), names)
    assert capsys.readouterr().out
    if page == "README.md":
        model = SvddModel.load("model.npz")
        assert (model.predict(names["X"]) == names["tuned"].predict(names["X"])).all()
    if page.startswith("examples"):
        with TuningClient(stack.address) as client:
            session = next(iter(client.list_sessions()))
            assert session.config.lease_seconds == 1800
            client.cancel_session(session)
