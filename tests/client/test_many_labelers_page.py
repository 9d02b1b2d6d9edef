"""The Python of docs/many-labelers.md does what it says."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from tests.client.scene import blob

from svddtune.client import EmbeddedStack, Query, TuningClient
from svddtune.client.aio import AsyncTuningClient

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parent.parent.parent / "docs" / "many-labelers.md"


def test_examples_run(
    stack: EmbeddedStack, client: TuningClient, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = blob(80)
    dataset = client.upload_dataset(X)

    def look_at(query: Query) -> int:
        return int(y[query.row])

    names: dict[str, Any] = {
        "client": client,
        "dataset": dataset,
        "look_at": look_at,
        "AsyncTuningClient": AsyncTuningClient,
        "session": client.create_session(dataset, budget=5),
        "first": client.create_session(dataset, budget=5),
        "second": client.create_session(dataset, budget=5),
    }
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 9
    labelers, unasked, sessions, handover, overlap, reports, controls, trusts, loop = blocks
    exec(unasked, names)
    kinds = [event.kind for event in client.labels(names["session"])]
    assert kinds == ["labeled", "labeled", "retracted"]
    exec(labelers, names)
    assert client.wait_until_completed(names["session"], timeout_s=60).counts.total == 5
    exec(sessions, names)
    assert len(capsys.readouterr().out.splitlines()) == 10
    exec(handover, names)
    assert capsys.readouterr().out == "5 0\n"
    client.cancel_session(names["again"])
    exec(overlap, names)
    assert names["double"].config.overlap_rule == "adaptive"
    client.cancel_session(names["double"])
    exec(controls, names)
    assert names["session"].config.budget == 40
    exec(trusts, names)
    assert client.get_session(names["session"]).config.trusts == {"ann": 0.95, "bob": 0.75}
    client.cancel_session(names["session"])
    names["session"] = client.create_session(dataset, budget=5, trusts={"eve": 0.9})
    exec(loop, names)
    asyncio.run(names["serve"](stack.address, names["session"].name))
    client.wait_until_completed(names["session"], timeout_s=60)
    result = client.result(names["session"])
    assert any("eve=0.9" in note for note in result.notes)
    assert result.manifest.certainties == pytest.approx([0.9] * 5)
    client.resume_session(client.update_session(names["session"], budget=6))
    exec(reports, names)
    assert (names["reports"][0].labeler, names["effect"].votes) == ("eve", 5)
