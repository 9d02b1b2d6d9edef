"""The report on a session in a browser: accessible, light and dark, narrow and on paper."""

import shlex
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.client.scene import blob
from tests.console.axe import violations
from tests.console.conftest import Watched

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.client.report import gather, page

pytestmark = [pytest.mark.integration, pytest.mark.slow]

MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def report(stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of a report on a session that two people labelled."""
    X, y = blob(3, n=200, outliers=14)
    with TuningClient(stack.address) as client:
        data = client.upload_dataset(
            X,
            observation_ids=[f"pump-{row}" for row in range(200)],
            feature_names=["pressure", "flow"],
            name="pumps",
        )
        session = client.create_session(data, budget=30, name="Pumps of hall B", seed=4)
        for labeler, count in (("ann", 14), ("bob", 30)):
            with client.tuning(session, labeler=labeler) as tuning:
                for _, query in zip(range(count), tuning.queries(), strict=False):
                    tuning.answer(query, "inlier" if y[query.row] > 0 else "outlier")
        client.wait_until_completed(session)
        contents = gather(client, session)
        client.delete_session(session)
    file = tmp_path_factory.mktemp("report") / "report.html"
    text = page(
        contents,
        server="127.0.0.1:50051",
        command=lambda *words: shlex.join(["svddtune", *words]),
    )
    file.write_text(text)
    return file.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_report_is_accessible_and_breaks_no_rule_of_its_own(
    scheme: str, report: str, browser: Browser, pictures: Path | None
) -> None:
    context = browser.new_context(
        viewport={"width": 1000, "height": 1150},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    shown = context.new_page()
    watched = Watched(shown)
    shown.goto(report)
    background = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(21, 24, 27)" if scheme == "dark" else "rgb(255, 255, 255)")
    title = shown.locator("figure svg text").first
    inks = {
        shown.evaluate("getComputedStyle(document.body).color"),
        title.evaluate("element => getComputedStyle(element).fill"),
    }
    assert len(inks) == 1
    if pictures is not None and scheme == "light":
        shown.screenshot(path=pictures / "report.png")
        assert (pictures / "report.png").stat().st_size < MOST_BYTES
    assert violations(shown) == []
    assert watched.faults == []
    context.close()


def test_report_can_be_used_by_keyboard_and_on_a_narrow_screen(
    report: str, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    shown = context.new_page()
    shown.goto(report)
    wide = shown.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    shown.keyboard.press("Tab")
    assert shown.evaluate("document.activeElement.textContent") == "What was tuned"
    shown.keyboard.press("Enter")
    assert shown.url.endswith("#tuned")
    scrolled = shown.locator(".wide").all()
    assert scrolled
    for region in scrolled:
        assert region.get_attribute("tabindex") == "0"
    context.close()


def test_report_prints_on_a4(report: str, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 690, "height": 1000}, color_scheme="dark")
    shown = context.new_page()
    shown.goto(report)
    shown.emulate_media(media="print")
    assert not shown.locator("nav").is_visible()
    assert shown.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert shown.evaluate("document.documentElement.scrollWidth") <= 690
    paper = shown.pdf(prefer_css_page_size=True)
    assert paper.startswith(b"%PDF")
    assert b"/MediaBox [0 0 594.95996 841.91998]" in paper or b"/MediaBox [0 0 595" in paper
    context.close()
