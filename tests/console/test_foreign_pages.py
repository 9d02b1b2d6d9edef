"""Pages of other origins in the browser: they change nothing, read nothing, frame nothing."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.console.labeling import new_session

from svddtune.client import TuningClient

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def foreign() -> Iterator[str]:
    """Address of an empty page of another origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>foreign</title><body>")

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(browser: Browser, foreign: str) -> Iterator[Page]:
    context = browser.new_context()
    found = context.new_page()
    found.goto(foreign)
    yield found
    context.close()


# What a page may send without asking the service first, to a call that would end a session.
SENDS = {
    "fetch": """async (url) => {
        const options = {method: "POST", mode: "no-cors", body: "{}",
            headers: {"Content-Type": "text/plain"}};
        return (await fetch(url, options)).type;
    }""",
    "beacon": "(url) => navigator.sendBeacon(url, '{}') ? 'opaque' : 'refused'",
    "form": """(url) => new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.name = "sink";
        document.body.append(frame);
        const form = document.createElement("form");
        Object.assign(form, {method: "post", action: url, target: "sink", enctype: "text/plain"});
        document.body.append(form);
        frame.onload = () => resolve("opaque");
        form.submit();
    })""",
    "image": """(url) => new Promise((resolve) => {
        const image = new Image();
        image.onload = () => resolve("shown");
        image.onerror = () => resolve("opaque");
        image.src = url;
    })""",
}


@pytest.mark.parametrize("way", SENDS)
def test_foreign_page_changes_nothing(
    page: Page, console_url: str, console_client: TuningClient, way: str
) -> None:
    session = console_client.create_session(
        new_session(console_client).dataset, budget=10, name=f"target of {way}"
    )
    url = f"{console_url}/v1/{session.name}:cancel"
    if way == "image":
        # (The browser does not even let the page know the status.)
        assert page.evaluate(SENDS[way], url) == "opaque"
    else:
        with page.expect_response(url) as answered:
            assert page.evaluate(SENDS[way], url) == "opaque"
        assert answered.value.status == 403
    assert console_client.get_session(session).state != "cancelled"


def test_foreign_page_reads_nothing(page: Page, console_url: str) -> None:
    read = """(url) => fetch(url).then((one) => one.text(), () => "refused")"""
    for path in ("/v1/sessions", "/v1/server", "/"):
        assert page.evaluate(read, f"{console_url}{path}") == "refused"


def test_foreign_page_cannot_frame_the_console(page: Page, console_url: str) -> None:
    page.evaluate(
        """(url) => new Promise((resolve) => {
            const frame = document.createElement("iframe");
            frame.onload = resolve;
            frame.src = url;
            document.body.append(frame);
        })""",
        f"{console_url}/",
    )
    framed = page.frames[-1]
    assert framed.locator("#console").count() == 0


def test_foreign_page_keeps_no_hold_of_the_window(
    page: Page, console_url: str, open_page: Callable[..., Page]
) -> None:
    with page.context.expect_page() as opened:
        page.evaluate("(url) => { window.held = open(url); }", f"{console_url}/")
    opened.value.get_by_role("heading", name="Sessions", exact=True).wait_for()
    # The opener policy cuts the tie: to the foreign page the window counts as closed.
    assert page.evaluate("window.held.closed")
    assert opened.value.evaluate("window.opener") is None
