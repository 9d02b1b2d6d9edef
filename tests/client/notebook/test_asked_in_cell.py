"""A person answers in a real JupyterLab while a cell runs."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.client.notebook.conftest import OpenNotebook
from tests.client.notebook.lab import output_of, press, run_cell
from tests.client.scene import blob
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, Session, TuningClient

pytestmark = [pytest.mark.slow, pytest.mark.integration, pytest.mark.timeout(240)]

# (The widget is the kernel's first and is shown by the running cell itself.)
ASK_AT_ONCE = """
import numpy as np
from svddtune import tune
from svddtune.client.notebook import WidgetOracle

X = np.random.default_rng(0).normal(size=(40, 2))
tuned = tune(X, WidgetOracle(), server={server!r}, budget=2, strategy="lama")
print("asked", len(tuned.asked))
"""
SHOW = """
oracle = WidgetOracle()
oracle
"""
ASK_IN_THE_NEXT = """
tuned = tune(X, oracle, server={server!r}, budget=2, strategy="lama")
print("asked", len(tuned.asked))
"""
LABEL = """
from svddtune.client import TuningClient
from svddtune.client.notebook import label
label({session!r}, server={server!r}, labeler="ann")
"""
# Ends once the answer is stored, so it shows that the answer arrives while it runs.
RUN_MEANWHILE = """
with TuningClient({server!r}) as client:
    print("runs")
    for update in client.watch({session!r}, timeout_s=60):
        if update.session.counts.total:
            break
print("labels", update.session.counts.total)
"""


@pytest.fixture
def session(client: TuningClient) -> Iterator[Session]:
    dataset = client.upload_dataset(blob(3)[0], scaling="minmax")
    made = client.create_session(dataset, budget=12, strategy="lama")
    yield made
    client.delete_session(made)


@pytest.fixture
def page(open_notebook: OpenNotebook, stack: EmbeddedStack, session: Session) -> Page:
    cells = [ASK_AT_ONCE, SHOW, ASK_IN_THE_NEXT, LABEL, RUN_MEANWHILE]
    filled = [cell.format(session=session.name, server=stack.address) for cell in cells]
    return open_notebook("ask.ipynb", filled)


def widget_of(page: Page, cell: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(cell).locator(".svddtune-label")


def test_answers_arrive_while_a_cell_runs(
    page: Page, client: TuningClient, session: Session
) -> None:
    # In one cell, with the first widget of the kernel.
    run_cell(page, 0)
    for number in (1, 2):
        expect(widget_of(page, 0).locator(".heading")).to_contain_text(f"Query {number}")
        press(page, widget_of(page, 0), "i")
    wait_until(lambda: re.search(r"asked 2", output_of(page, 0)) is not None)

    # With a later widget, of a cell before.
    run_cell(page, 1)
    expect(widget_of(page, 1).locator(".heading")).to_contain_text("to be asked here")
    run_cell(page, 2)
    for number in (1, 2):
        expect(widget_of(page, 1).locator(".heading")).to_contain_text(f"Query {number}")
        press(page, widget_of(page, 1), "o")
    wait_until(lambda: re.search(r"asked 2", output_of(page, 2)) is not None)

    # Beside a cell that computes.
    run_cell(page, 3)
    expect(widget_of(page, 3).locator(".heading")).to_contain_text("Query 1")
    run_cell(page, 4)
    wait_until(lambda: "runs" in output_of(page, 4))
    press(page, widget_of(page, 3), "i")
    wait_until(lambda: "labels 1" in output_of(page, 4))
