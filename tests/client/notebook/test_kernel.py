"""Labelling and clients inside a real ipykernel, whose event loop runs while cells do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from tests.client.scene import blob
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, Session, TuningClient

pytestmark = [
    pytest.mark.integration,
    # The kernel's own packages warn, of ports and of event loops.
    pytest.mark.filterwarnings("default"),
]


class Kernel:
    """A kernel that runs cells and returns what they print, as nbclient does."""

    def __init__(self, folder: Path) -> None:
        self.notebook: Any = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
        self.client = NotebookClient(
            self.notebook,
            timeout=100,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )

    def run(self, source: str) -> str:
        """Run a cell; return its text, and raise what it raises."""
        cell: Any = nbformat.v4.new_code_cell(source)  # type: ignore[no-untyped-call]
        self.notebook.cells.append(cell)
        self.client.execute_cell(cell, len(self.notebook.cells) - 1)
        self.outputs: list[Any] = cell.outputs
        return "".join(output.get("text", "") for output in cell.outputs)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    made = Kernel(tmp_path)
    with made.client.setup_kernel():
        yield made


@pytest.fixture
def session(client: TuningClient) -> Iterator[Session]:
    dataset = client.upload_dataset(blob(3)[0], scaling="minmax")
    made = client.create_session(dataset, budget=12, strategy="lama")
    yield made
    client.delete_session(made)


def test_both_clients_and_tune_work_where_an_event_loop_runs(
    kernel: Kernel, stack: EmbeddedStack, session: Session
) -> None:
    printed = kernel.run(f"""
import asyncio
from svddtune.client import AsyncTuningClient, TuningClient

assert asyncio.get_running_loop().is_running()
with TuningClient({stack.address!r}) as client:
    with client.tuning({session.name!r}, labeler="sync") as tuning:
        first = tuning.next_query()
        tuning.answer(first, "inlier")
        print(tuning.label_all({{"50": "inlier", "51": "outlier"}}).applied)
async with AsyncTuningClient({stack.address!r}) as client:
    async with client.tuning({session.name!r}, labeler="async") as tuning:
        async for query in tuning.queries():
            await tuning.answer(query, "inlier")
            break
        print((await tuning.label_all({{"52": "inlier"}})).applied)
""")
    assert printed.split() == ["2", "1"]
    printed = kernel.run(f"""
import numpy as np
from svddtune import tune

X = np.random.default_rng(0).normal(size=(40, 2))
tuned = tune(X, lambda query: "inlier", server={stack.address!r}, budget=4, strategy="lama")
print(len(tuned.asked))
""")
    assert printed.split() == ["4"]


def test_each_cell_shows_its_picture_once(kernel: Kernel) -> None:
    kernel.run("from svddtune.client.figures import History")
    for _ in range(2):
        kernel.run("History(()).plot()")
        shown = [one for one in kernel.outputs if "image/png" in one.get("data", {})]
        assert len(shown) == 1


def test_widget_is_pressed_from_a_program_and_ends_with_the_kernel(
    kernel: Kernel, stack: EmbeddedStack, session: Session, client: TuningClient
) -> None:
    kernel.run(f"""
from svddtune.client.notebook import label
widget = label({session.name!r}, server={stack.address!r}, labeler="ann")
""")
    # (The question is there when it is shown; the service says so earlier.)
    wait_until(lambda: "Query" in kernel.run("print(widget)"))
    kernel.run("widget.press('outlier')")
    wait_until(lambda: [event.verdict for event in client.labels(session)] == ["outlier"])
    kernel.run("widget.press('undo')")
    wait_until(lambda: [event.kind for event in client.labels(session)][1:] == ["retracted"])
    assert "Query" in kernel.run("print(widget)")
    manager = kernel.client.km
    assert manager is not None
    asyncio.run(_shut_down(manager))
    # (A lease that nobody gives back lasts a minute.)
    wait_until(lambda: client.get_session(session).leased_count == 0, timeout_s=25)


def test_oracle_says_where_no_press_arrives_and_a_run_beside_the_cells_is_answered(
    kernel: Kernel, stack: EmbeddedStack
) -> None:
    printed = kernel.run(f"""
import numpy as np
from svddtune import tune
from svddtune.client import SvddtuneError
from svddtune.client.notebook import WidgetOracle, label_and_tune

X = np.random.default_rng(0).normal(size=(40, 2))
options = dict(server={stack.address!r}, budget=4, strategy="lama")
try:
    tune(X, WidgetOracle(wait_seen_s=0.1), **options)
except SvddtuneError as error:
    print(error.reason)
run = label_and_tune(X, **options)
try:
    run.result()
except SvddtuneError as error:
    print(error.reason)


def answer(change):
    if change.new["question"]:
        run.widget.press("inlier")


run.widget.observe(answer, "shown")
print(len(run.result(timeout_s=60).asked), run.widget.shown["ended"][0])
failed = label_and_tune(X, budget=-1, server={stack.address!r})
try:
    failed.result(timeout_s=60)
except SvddtuneError as error:
    print(type(error).__name__)
""")
    expected = ["WIDGET_NOT_SEEN", "LABELS_MISSING", "4", "Finished.", "InvalidInput"]
    assert printed.split() == expected


async def _shut_down(manager: Any) -> None:
    shut: Any = manager.shutdown_kernel(now=False)
    if asyncio.iscoroutine(shut):
        await shut
