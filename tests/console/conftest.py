"""A real Chromium, and a real stack with HTTP, for the tests of the console."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.console.finished import Finished, finish

from svddtune.client import EmbeddedStack, TuningClient

CHROMIUM = os.environ.get("SVDDTUNE_TEST_CHROMIUM") or shutil.which("chromium")
# Each wait in a page ends well before the test's own limit.
WAIT_MS = 20_000


# (While Playwright runs, its event loop counts as running, so that no other test could run one:
# it ends with the tests of each file.)
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium from the machine's packages; `make browser` installs it on Debian."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: make browser")
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM,
            # Its sandbox cannot be had by root, in whose containers CI runs.
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        yield running
        running.close()


@pytest.fixture(scope="session")
def console_stack() -> Iterator[EmbeddedStack]:
    """A stack on this machine that serves the console."""
    with EmbeddedStack(workers=1, http_listen="127.0.0.1:0") as running:
        yield running


@pytest.fixture(scope="session")
def console_url(console_stack: EmbeddedStack) -> str:
    """Address of the console."""
    return str(console_stack.info["http"])


@pytest.fixture(scope="session")
def finished(console_stack: EmbeddedStack) -> Finished:
    """A session with a result; tests leave it as it is."""
    with TuningClient(console_stack.address) as client:
        return finish(client)


@pytest.fixture
def console_client(console_stack: EmbeddedStack) -> Iterator[TuningClient]:
    """A client of the same service."""
    with TuningClient(console_stack.address) as connected:
        yield connected


class Watched:
    """A page whose faults count: errors of scripts, and what the Content-Security-Policy blocks."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._heard)

    def _heard(self, message: Any) -> None:
        # (Responses with an error status, and a service that is away, are the tests' own doing.)
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)


@pytest.fixture
def open_page(browser: Browser, console_url: str) -> Iterator[Callable[..., Page]]:
    """Opens pages of the console, each in a browser context of its own; faults fail the test.

    ``open_page("#/sessions/ID", width=360, dark=True)``; further options are those of
    ``Browser.new_context``.
    """
    watched: list[Watched] = []
    with ExitStack() as ending:

        def opened(
            path: str = "",
            *,
            url: str = console_url,
            width: int = 1280,
            height: int = 800,
            dark: bool = False,
            **options: Any,
        ) -> Page:
            context = ending.enter_context(
                _context(
                    browser,
                    viewport={"width": width, "height": height},
                    color_scheme="dark" if dark else "light",
                    reduced_motion="reduce",
                    **options,
                )
            )
            context.set_default_timeout(WAIT_MS)
            page = context.new_page()
            watched.append(Watched(page))
            page.goto(f"{url}/{path}")
            return page

        yield opened
    assert [one.faults for one in watched] == [[]] * len(watched)


@contextmanager
def _context(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    context = browser.new_context(**options)
    yield context
    context.close()


@pytest.fixture
def pictures() -> Path | None:
    """Folder for the screenshots of the docs, if ``SVDDTUNE_PICTURES`` asks for them anew."""
    given = os.environ.get("SVDDTUNE_PICTURES")
    return Path(given) if given else None
