"""The result in a browser: rows outside with reasons, the threshold, both detectors, downloads."""

import csv
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from tests.console.axe import violations
from tests.console.finished import Finished, finish
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, SvddModel, TuningClient, cohen_kappa

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.integration


@pytest.fixture
def shown(open_page: OpenPage, finished: Finished) -> Page:
    page = open_page(f"#/sessions/{finished.id}/result", accept_downloads=True)
    page.get_by_role("heading", name="Rows outside").wait_for()
    return page


def ids_shown(page: Page) -> list[str]:
    page.locator("table.outside").wait_for()
    return page.locator("table.outside tbody .id").all_inner_texts()


def test_rows_outside_come_with_ids_display_fields_and_reasons(
    shown: Page, finished: Finished
) -> None:
    far = finished.distances()
    order = [int(row) for row in np.lexsort((np.arange(len(far)), -far)) if far[row] > 0]
    assert ids_shown(shown) == [finished.ids[row] for row in order][:25]
    first = shown.locator("table.outside tbody tr").first
    expect(first).to_contain_text(f"rack {order[0] % 7}")
    reasons = finished.model.unusual(finished.X[order[:1]], 3)[0]
    for reason in reasons:
        expect(first).to_contain_text(reason.name)
    shown.get_by_label("Search by id").fill("HOST-01")
    shown.get_by_label("Rows inside, too").check()
    expect(shown.get_by_text("10 rows", exact=True)).to_be_visible()
    assert sorted(ids_shown(shown)) == [f"host-01{digit}" for digit in range(10)]


def test_slider_moves_the_cut_and_says_what_it_means(shown: Page, finished: Finished) -> None:
    far = finished.distances()
    rows = list(finished.labels)
    truth = np.where([finished.labels[row] for row in rows], -1, 1)
    figures = shown.locator("[data-figure]")

    def expect_cut(cut: float) -> None:
        expect(figures.nth(0)).to_contain_text(f"{int((far > cut).sum())} (")
        kappa = cohen_kappa(truth, np.where(far[rows] > cut, -1, 1))
        assert float(figures.nth(1).inner_text()) == pytest.approx(kappa, rel=0.05)

    expect_cut(0.0)
    # Between two rows, so that the cut's last digits do not matter.
    ordered = np.sort(far)[::-1]
    cut = float((ordered[2] + ordered[3]) / 2)
    shown.get_by_label("Cut", exact=True).fill(str(cut))
    shown.get_by_label("Cut", exact=True).press("Enter")
    expect_cut(cut)
    assert len(ids_shown(shown)) == 3
    slider = shown.get_by_role("slider", name="Cut over the score")
    slider.press("Home")
    expect(figures.nth(0)).to_contain_text(f"{len(far)} (100 %)")
    shown.get_by_role("button", name="The model's own cut").click()
    expect_cut(0.0)


def test_detectors_are_compared_and_switched(shown: Page, finished: Finished) -> None:
    expect(shown.get_by_text("On 12 held-out labels")).to_be_visible()
    expect(
        shown.get_by_text("do not tell which is better").or_(shown.get_by_text("Trust the"))
    ).to_have_count(1)
    shown.get_by_label("Refined detector").check()
    refined = finished.model.predict(finished.X, which="refined")
    expect(shown.locator("[data-figure=outside]")).to_contain_text(
        f"{int((refined == -1).sum())} ("
    )
    score = finished.model.known_refined().score(finished.X)
    assert ids_shown(shown)[0] == finished.ids[int(np.argmax(score))]


def test_rules_without_labels_stand_beside_the_result(
    shown: Page, finished: Finished, console_client: TuningClient
) -> None:
    rules = console_client.result(finished.session).comparisons
    rows = shown.locator("table.rules tbody tr")
    expect(rows).to_have_count(1 + len(rules))
    expect(rows.first).to_contain_text("The labels")


def downloaded(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download: {name}").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def snippet(page: Page, title: str) -> str:
    region = page.get_by_role("region", name=title)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    region.get_by_role("button", name="Copy").click()
    expect(region.get_by_role("status")).to_have_text("Copied")
    copied = str(page.evaluate("navigator.clipboard.readText()"))
    assert copied.rstrip("\n") == region.locator("code").inner_text().rstrip("\n")
    return copied


def test_files_hold_what_the_page_shows(shown: Page, finished: Finished, tmp_path: Path) -> None:
    model = SvddModel.load(downloaded(shown, "Model", tmp_path))
    assert model.result == finished.session.latest_result
    np.testing.assert_array_equal(model.decision(finished.X), finished.model.decision(finished.X))
    with downloaded(shown, "Rows with scores", tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_allclose(
        [float(row["score"]) for row in rows], finished.distances(), rtol=0, atol=1e-12
    )
    assert [row["observation_id"] for row in rows] == finished.ids
    labelled = {int(row["row"]): row["label"] == "outlier" for row in rows if row["label"]}
    assert labelled == finished.labels
    with downloaded(shown, "Labels", tmp_path).open(newline="") as file:
        labels = list(csv.DictReader(file))
    assert sorted(int(one["row"]) for one in labels) == sorted(finished.labels)
    assert {one["kind"] for one in labels} == {"labeled"}
    manifest = json.loads(downloaded(shown, "Manifest", tmp_path).read_text())
    assert sorted(manifest["labeledRows"]) == sorted(finished.labels)


@pytest.mark.slow
def test_snippets_run(
    shown: Page, finished: Finished, console_stack: EmbeddedStack, tmp_path: Path
) -> None:
    downloaded(shown, "Model", tmp_path)

    def run(command: list[str]) -> str:
        scripts = Path(sys.executable).parent
        env = os.environ | {
            "SVDDTUNE_SERVER": console_stack.address,
            "PATH": f"{scripts}:{os.environ['PATH']}",
        }
        return subprocess.run(
            command, cwd=tmp_path, env=env, check=True, capture_output=True, text=True
        ).stdout

    for title in ("Python, with the downloaded model", "scikit-learn, with the downloaded model"):
        run([sys.executable, "-c", snippet(shown, title)])
    assert (tmp_path / f"{finished.id}-1.joblib").exists()
    run(shlex.split(snippet(shown, "ONNX, on the command line")))
    assert (tmp_path / f"{finished.id}-1.onnx").stat().st_size
    scored = json.loads(run(["bash", "-c", snippet(shown, "curl, with rows of your own")]))
    assert len(scored["scores"][0]["reasons"]) == 3
    run(shlex.split(snippet(shown, "Report, on the command line")))
    assert "hosts 0" in (tmp_path / f"{finished.id}-1.html").read_text()


def test_session_without_a_result_says_so(
    open_page: OpenPage, finished: Finished, console_client: TuningClient
) -> None:
    session = console_client.create_session(finished.session.dataset, budget=10)
    page = open_page(f"#/sessions/{session.name.partition('/')[2]}/result")
    expect(page.get_by_text("There is no result yet")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Label").click()
    page.wait_for_url("**/label")
    console_client.cancel_session(session)


@pytest.mark.parametrize(
    ("width", "dark"), [(360, True), (1280, False), (2560, False)], ids=["narrow", "usual", "wide"]
)
def test_page_is_accessible_and_fits(
    open_page: OpenPage, finished: Finished, pictures: Path | None, width: int, dark: bool
) -> None:
    page = open_page(f"#/sessions/{finished.id}/result", width=width, dark=dark)
    page.locator("table.outside").wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if pictures and width == 1280:
        clip: Any = {"x": 0, "y": 0, "width": 1280, "height": 680}
        page.screenshot(path=pictures / "result.png", clip=clip)


@pytest.mark.slow
def test_earlier_result_can_be_chosen(
    open_page: OpenPage, finished: Finished, console_client: TuningClient
) -> None:
    second: Any = finish(console_client, seed=3)
    console_client.update_session(second.session, budget=20)
    console_client.resume_session(second.session)
    wait_until(lambda: console_client.get_session(second.session).state == "labeling")
    console_client.finish_session(second.session)
    console_client.wait_until_completed(second.session)
    page = open_page(f"#/sessions/{second.id}/result")
    chosen = page.get_by_role("combobox")
    expect(chosen).to_have_value(f"{second.session.name}/results/2")
    chosen.select_option(index=1)
    page.wait_for_url("**/result/1")
    expect(page.get_by_role("combobox")).to_have_value(f"{second.session.name}/results/1")
    page.locator("table.outside").wait_for()
