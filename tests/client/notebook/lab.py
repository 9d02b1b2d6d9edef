"""A real JupyterLab, for tests that press what a person presses."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import Locator, Page, expect
from tests.waiting import wait_until

_TOKEN = "of-the-test"
# Longer than the widget takes a press for one that was meant for the question before.
GUARD_MS = 250


@contextmanager
def jupyter_lab(folder: Path) -> Iterator[str]:
    """Serve a folder by JupyterLab; yield the start of its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "ServerApp.port": port,
        "ServerApp.root_dir": folder,
        "IdentityProvider.token": _TOKEN,
        # For commands of the menus.
        "LabApp.expose_app_in_browser": True,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    arguments = [f"--{name}={value}" for name, value in options.items()]
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    # Nobody is asked whether to fetch news.
    settings = folder / "CONFIG/lab/user-settings/@jupyterlab/apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    with (folder / "lab.log").open("wb") as log:
        lab = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *arguments],
            env={**os.environ, **own, "JUPYTER_PREFER_ENV_PATH": "0"},
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: _answers(f"{url}/api/status?token={_TOKEN}"), timeout_s=60)
        yield f"{url}/doc/tree/{{}}?token={_TOKEN}"
    finally:
        lab.terminate()
        try:
            lab.wait(20)
        except subprocess.TimeoutExpired:
            lab.kill()


def write_notebook(path: Path, cells: list[str]) -> None:
    """Write a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],  # type: ignore[no-untyped-call]
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
    )
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def run_cell(page: Page, number: int) -> None:
    """Run a cell as the menu does."""
    page.locator(".jp-CodeCell .cm-content").nth(number).click()
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")


def press(page: Page, widget: Locator, key: str) -> None:
    """Press a key once the question is there for longer than a slip of the finger."""
    expect(widget.locator('button[data-word="inlier"]')).to_have_attribute("aria-disabled", "false")
    page.wait_for_timeout(GUARD_MS)
    widget.focus()
    page.keyboard.press(key)


def output_of(page: Page, number: int) -> str:
    """Return the text of a cell's outputs."""
    return page.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea").inner_text()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
