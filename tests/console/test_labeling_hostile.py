"""What a dataset shows on the Label page: display types, and values that mean harm."""

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from playwright.sync_api import Page, Route, expect
from tests.console import axe
from tests.console.labeling import Hands, rows

from svddtune.client import Session, TuningClient

_PIXEL = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO"
        "9TXL0Y4OHwAAAABJRU5ErkJggg=="
    )
).decode()
_SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='hit=1'/>").decode()
HOSTILE = {
    "address of a script": "javascript:hit=1",
    "page": "data:text/html,<script>hit=1</script>",
    "drawing": f"data:image/svg+xml;base64,{_SVG}",
    "no image": "data:image/png;base64,AAAA",
    "<script>hit=1</script>": "<script>hit=1</script><img src=x onerror=hit=1>",
    "other host": "https://good.example\u202emoc.live/",
    "name before host": "https://good.example@evil.example/",
    "turned": "invoice\u202efdp.exe",
    "deep": "[" * 1000 + "]" * 1000,
    "keys": json.dumps({"__proto__": {"a": 1}, "<b>": "\u202e"}),
}
NAMES = ("<img src=x onerror=hit=1>", "height\u202e", "constructor")


def _session(client: TuningClient, display: dict[str, str], **settings: Any) -> Session:
    data: np.ndarray[Any, Any] = rows(60)
    dataset = client.upload_dataset(
        data,
        feature_names=NAMES,
        observation_ids=[f"<b onclick=hit=1>part-{row}" for row in range(len(data))],
        display=[display] * len(data),
    )
    return client.create_session(dataset, budget=10, name="<script>hit=1</script>", **settings)


def test_hostile_values_are_harmless(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = _session(console_client, HOSTILE)
    page = open_page(f"#/{session.name}/label")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    def enlarge(route: Route) -> None:
        # (The service refuses fields of a megabyte; the page must not depend on it.)
        response = route.fetch()
        said = response.json()
        for assign in said["assignments"]:
            assign["display"].append({"key": "dump", "value": "x\u202ey\n" * 250_000})
        route.fulfill(response=response, json=said)

    page.route("**/*:lease", enlarge, times=1)
    hands = Hands(page).begin()
    hands.heading.wait_for()
    fields = page.locator("dl.fields")
    expect(fields.get_by_role("link")).to_have_count(0)
    expect(fields.locator("img")).to_have_count(0)
    expect(page.get_by_text("An image that cannot be read.")).to_be_visible()
    expect(page.get_by_text("invoice⟨U+202E⟩fdp.exe")).to_be_visible()
    expect(page.get_by_text("https://good.example⟨U+202E⟩moc.live/")).to_be_visible()
    expect(hands.heading).to_contain_text("<b onclick=hit=1>part-")
    for text in ("javascript:hit=1", "<script>hit=1</script><img", NAMES[0]):
        expect(page.get_by_text(text).first).to_be_visible()
    page.get_by_role("button", name="Show all 1,000,000 characters").click()
    expect(page.get_by_role("region", name="dump")).to_be_visible()
    assert "\u202e" not in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate("typeof hit") == "undefined"
    assert all(url.startswith(page.url.partition("#")[0]) or "data:" in url for url in asked)
    hands.page.keyboard.press("i")
    page.get_by_text("1 of 10 labels").wait_for()


def test_display_types_follow_from_the_content(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = _session(
        console_client,
        {
            "ticket": "https://tracker.example/T-17?a=b#c",
            "log": "10:01 start\n10:02 stop",
            "settings": json.dumps({"limits": {"low": 1, "high": [2, 3]}}),
            "picture": f"data:image/png;base64,{_PIXEL}",
            "story": "word " * 200,
        },
        visible_features=["constructor"],
    )
    page = open_page(f"#/{session.name}/label", width=360)
    Hands(page).begin().heading.wait_for()
    link = page.get_by_role("link", name="https://tracker.example/T-17?a=b#c")
    assert (link.get_attribute("rel"), link.get_attribute("target")) == (
        "noopener noreferrer nofollow",
        "_blank",
    )
    expect(page.get_by_role("region", name="log")).to_have_text("10:01 start\n10:02 stop")
    page.get_by_text("limits").click()
    expect(page.get_by_text("low: 1")).to_be_hidden()
    assert page.get_by_role("img", name="picture").evaluate("image => image.naturalWidth") == 5
    expect(page.get_by_role("region", name="story")).to_contain_text("word word")
    page.get_by_role("button", name="Show all 1,000 characters").click()
    expect(page.get_by_role("rowheader", name="constructor")).to_be_visible()
    expect(page.get_by_role("rowheader", name=NAMES[0])).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert axe.violations(page) == []
