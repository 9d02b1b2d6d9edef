"""A person labels in a real JupyterLab, by keys and buttons."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.client.notebook.conftest import OpenNotebook
from tests.client.notebook.lab import (
    GUARD_MS,
    output_of,
    press,
    run_cell,
)
from tests.client.scene import blob
from tests.client.summary.shown_values import HOSTILE
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, Session, TuningClient

pytestmark = [pytest.mark.slow, pytest.mark.integration, pytest.mark.timeout(240)]

# Not among the steering characters, which are written out.
SHOWN = "<script>alert(1)</script><img src=x onerror='alert(2)'>"

LABEL = """
from svddtune.client.notebook import label
label({session!r}, server={server!r}, labeler="ann")
"""
TUNE = """
import numpy as np, pandas as pd
from svddtune.client.notebook import label_and_tune

rng = np.random.default_rng(4)
load = rng.uniform(0.3, 1.0, 80)
pumps = pd.DataFrame({{
    "temperature_C": 40 + 25 * load + rng.normal(0, 1.5, 80),
    "pressure_kPa": 200 + 150 * load + rng.normal(0, 4, 80),
    "vibration_mm_s": 1 + 0.8 * load + rng.normal(0, 0.1, 80),
}})
pumps.loc[::13, "vibration_mm_s"] += 1.2
known = {{str(row): "inlier" for row in range(1, 9)}} | {{"0": "outlier", "13": "outlier"}}
run = label_and_tune(
    pumps, server={server!r}, name="Pumps", labeler="ann", budget=20, initial=known,
    display=[{{"pump": f"P-{{row % 7}}", "shift": "day"}} for row in range(80)],
)
run
"""
RESULT = """
tuned = run.result()
print("asked", len(tuned.asked), "outside", len(tuned.outside))
"""


@pytest.fixture
def session(client: TuningClient) -> Iterator[Session]:
    X, _ = blob(11)
    dataset = client.upload_dataset(
        X,
        observation_ids=[f"{row}{HOSTILE}" for row in range(len(X))],
        feature_names=[HOSTILE, "b"],
        display=[{"note": HOSTILE, HOSTILE: "v"} for _ in X],
        name=HOSTILE,
        scaling="minmax",
    )
    made = client.create_session(dataset, budget=20, name=HOSTILE)
    yield made
    client.delete_session(made)


@pytest.fixture
def page(open_notebook: OpenNotebook, stack: EmbeddedStack, session: Session) -> Page:
    """A notebook in JupyterLab, with cells that label and tune."""
    cells = [
        LABEL.format(session=session.name, server=stack.address),
        TUNE.format(server=stack.address),
        RESULT,
    ]
    return open_notebook("label.ipynb", cells)


def test_person_labels_and_tunes_in_jupyter_lab(
    page: Page, client: TuningClient, session: Session, pictures: Path | None
) -> None:
    def kinds() -> list[tuple[str, str]]:
        return [(one.kind, one.verdict or "") for one in client.labels(session)]

    run_cell(page, 0)
    widget = page.locator(".svddtune-label").first
    heading = widget.locator(".heading")
    expect(heading).to_contain_text("Query 1")

    # Hostile names are text.
    expect(heading).to_contain_text(SHOWN)
    expect(widget.locator(".fields")).to_contain_text(SHOWN)
    expect(widget.locator("script, img, iframe, a")).to_have_count(0)

    # Keys answer, undo and skip; the notebook's own shortcuts see none of them.
    press(page, widget, "i")
    expect(heading).to_contain_text("Query 2")
    press(page, widget, "o")
    expect(heading).to_contain_text("Query 3")
    press(page, widget, "z")
    expect(heading).to_contain_text("again: you said outlier")
    press(page, widget, "u")
    expect(heading).not_to_contain_text("again")
    wait_until(lambda: kinds()[-1] == ("labeled", "unsure"))
    assert kinds() == [
        ("labeled", "inlier"),
        ("labeled", "outlier"),
        ("retracted", "outlier"),
        ("labeled", "unsure"),
    ]
    skipped = heading.inner_text()
    press(page, widget, "s")
    expect(heading).not_to_have_text(skipped)
    press(page, widget, "d")
    expect(widget.locator(".note")).to_contain_text("for all labelers?")
    press(page, widget, "n")
    assert page.locator(".jp-CodeCell").count() == 3
    widget.locator('button[data-word="inlier"]').click()
    expect(widget.locator(".note")).to_contain_text("Kept in the session")
    page.wait_for_timeout(GUARD_MS)
    widget.locator('button[data-word="outlier"]').click()
    expect(widget.locator(".labels")).to_contain_text("2/20 labels: 1 inlier, 1 outlier, 1 unsure")

    # A cell that runs again holds no second question.
    run_cell(page, 0)
    widget = page.locator(".svddtune-label").first
    expect(widget.locator(".heading")).to_contain_text("Query")
    wait_until(lambda: client.get_session(session).leased_count == 1)
    press(page, widget, "q")
    expect(widget.locator(".ended")).to_contain_text("Stopped")
    expect(widget.locator("button:visible")).to_have_count(0)
    wait_until(lambda: client.get_session(session).leased_count == 0)

    # Tuning from rows of one's own, beside the cells.
    run_cell(page, 1)
    oracle = page.locator(".jp-CodeCell").nth(1).locator(".svddtune-label")
    expect(oracle.locator(".heading")).to_contain_text("Query 1", timeout=60_000)
    expect(oracle.locator(".fields")).to_contain_text("pump")
    expect(oracle.locator(".features")).to_contain_text("vibration_mm_s")
    expect(oracle.locator(".evidence")).to_contain_text("kappa")
    press(page, oracle, "i")
    expect(oracle.locator(".heading")).to_contain_text("Query 2")
    if pictures is not None:
        oracle.screenshot(path=pictures / "notebook_widget.png")
    run_cell(page, 2)
    wait_until(lambda: "LABELS_MISSING" in output_of(page, 2))
    oracle.get_by_role("button", name="Compute the result now").click()
    expect(oracle.locator(".ended").first).to_contain_text("Finished", timeout=60_000)
    run_cell(page, 2)
    wait_until(lambda: re.search(r"asked 1 outside \d+", output_of(page, 2)) is not None)
