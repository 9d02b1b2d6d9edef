"""The real Chromium of the console's tests, and a JupyterLab in it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.client.notebook.lab import jupyter_lab, write_notebook
from tests.console.conftest import WAIT_MS, Watched, browser, pictures

__all__ = ["WAIT_MS", "Watched", "browser", "pictures"]

OpenNotebook = Callable[[str, list[str]], Page]


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of a JupyterLab and the address of a notebook in it."""
    folder: Path = tmp_path_factory.mktemp("lab")
    with jupyter_lab(folder) as url:
        yield folder, url


@pytest.fixture(scope="module")
def open_notebook(browser: Browser, lab: tuple[Path, str]) -> Iterator[OpenNotebook]:
    """Opens a new notebook with these cells in JupyterLab, with a kernel of its own."""
    folder, url = lab
    pages = []

    def opened(name: str, cells: list[str]) -> Page:
        write_notebook(folder / name, cells)
        page = browser.new_page(viewport={"width": 1100, "height": 1000})
        pages.append(page)
        page.set_default_timeout(WAIT_MS)
        expect.set_options(timeout=WAIT_MS)
        page.goto(url.format(name))
        # (JupyterLab drops cells that are run before the kernel is connected.)
        page.get_by_role("button", name="Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
        return page

    yield opened
    for page in pages:
        page.close()
