"""Text that would be a script or break the layout: every page shows it as it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from svddtune.client import EmbeddedStack, Session, TuningClient

pytestmark = pytest.mark.integration

IMAGE = '<img src=x onerror="window.broken=1">'
SCRIPT = "<script>window.broken=1</script>"
CLOSING = "'\"></title></textarea><svg/onload=window.broken=1>"
LINK = "javascript:window.broken=1"
LONG = "W" * 100
TURNED = "safe\u202egnp.exe"
N = 40


@dataclass(frozen=True)
class Hostile:
    """A session whose every text is hostile, with a result, and one that asks."""

    finished: Session
    asking: Session


@pytest.fixture(scope="module")
def hostile(console_stack: EmbeddedStack) -> Hostile:
    X = np.random.default_rng(5).normal(size=(N, 4))
    X[::10] += 6
    ids = [f"{IMAGE} {row}" for row in range(N)]
    with TuningClient(console_stack.address) as client:
        dataset = client.upload_dataset(
            X,
            name=SCRIPT,
            observation_ids=ids,
            feature_names=[IMAGE, CLOSING, LONG, TURNED],
            display=[
                {
                    SCRIPT: IMAGE,
                    "link": LINK,
                    "page": 'https://example.com/"onmouseover="window.broken=1',
                    "image": "data:image/svg+xml,<svg onload='window.broken=1'/>",
                    "json": '{"<b>": ["</script>", "\\u202e"]}',
                    LONG: LONG,
                    TURNED: TURNED,
                }
                for _ in range(N)
            ],
            labels={"team": SCRIPT},
        )
        labels = {ids[row]: -1 if row % 10 == 0 else 1 for row in (0, 10, 20, 1, 2, 3, 4, 5)}
        settings: dict[str, Any] = {
            "initial_labels": labels,
            "labeler": "a@-._",
            "labels": {"team": IMAGE},
        }
        finished = client.create_session(dataset, budget=len(labels), name=CLOSING, **settings)
        asking = client.create_session(dataset, budget=20, name=IMAGE, **settings)
        return Hostile(client.wait_until_completed(finished), asking)


def looked_at(page: Page, url: str) -> None:
    """Nothing ran, nothing is wider than the window, nothing was asked of others."""
    assert page.evaluate("window.broken") is None
    assert page.locator("main img[src=x], main script, main svg[onload]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for address in page.locator("main a[href]").evaluate_all("all => all.map(one => one.href)"):
        assert address.startswith((url, "https://example.com/")), address


@pytest.fixture
def opened(open_page: Callable[..., Page], console_url: str) -> Callable[[str], Page]:
    def open_one(path: str) -> Page:
        page = open_page(path, width=360)
        asked: list[str] = []
        page.on("request", lambda one: asked.append(one.url))
        page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
        page.reload()
        page.locator("main").locator("h1, [role=alert]").first.wait_for()
        assert [one for one in asked if not one.startswith((console_url, "data:", "blob:"))] == []
        return page

    return open_one


def id_of(session: Session) -> str:
    return session.name.partition("/")[2]


def test_overview(opened: Callable[[str], Page], hostile: Hostile, console_url: str) -> None:
    page = opened("")
    for text in (IMAGE, CLOSING, SCRIPT):
        expect(page.get_by_text(text).first).to_be_visible()
    looked_at(page, console_url)


def test_session(opened: Callable[[str], Page], hostile: Hostile, console_url: str) -> None:
    page = opened(f"#/sessions/{id_of(hostile.asking)}")
    expect(page.get_by_text(IMAGE).first).to_be_visible()
    looked_at(page, console_url)


def test_label(opened: Callable[[str], Page], hostile: Hostile, console_url: str) -> None:
    page = opened(f"#/sessions/{id_of(hostile.asking)}/label")
    page.get_by_label("Your name").fill("ann")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Question 1")).to_contain_text(IMAGE)
    for text in (SCRIPT, LINK, LONG, "safe⟨U+202E⟩gnp.exe"):
        expect(page.get_by_text(text).first).to_be_visible()
    looked_at(page, console_url)


def test_result(opened: Callable[[str], Page], hostile: Hostile, console_url: str) -> None:
    page = opened(f"#/sessions/{id_of(hostile.finished)}/result")
    page.locator("table.outside").wait_for()
    expect(page.get_by_role("heading", level=1)).to_contain_text(CLOSING)
    for text in (IMAGE, SCRIPT, LINK, LONG, "safe⟨U+202E⟩gnp.exe"):
        expect(page.get_by_text(text).first).to_be_visible()
    looked_at(page, console_url)


def test_create(opened: Callable[[str], Page], console_url: str) -> None:
    page = opened("#/create")
    content = f'"{CLOSING.replace(chr(34), chr(34) * 2)}",b\n' + "".join(
        f"{i},{i * i}\n" for i in range(20)
    )
    page.locator("input[type=file]").set_input_files(
        {"name": f"{IMAGE}.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )
    expect(page.get_by_text(IMAGE).first).to_be_visible()
    looked_at(page, console_url)


@pytest.mark.slow
def test_address(opened: Callable[[str], Page], console_url: str) -> None:
    for path in (f"#/sessions/{IMAGE}/result", "#/sessions/..%2F..%2Fserver/label", "#/%E0%A4%A"):
        looked_at(opened(path), console_url)
