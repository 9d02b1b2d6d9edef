"""Opening the console in the browser of a machine."""

import os
import threading
from pathlib import Path

import pytest

from svddtune.client.cli.processes import open_console


def test_browser_that_ends_at_once_leaves_no_zombie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > "$0.shown"; exit 1\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s &")
    before = _children()
    open_console("http://127.0.0.1:1/")
    assert _children() == before
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    open_console("http://127.0.0.1:1/")
    assert (tmp_path / "browser.shown").read_text() == "http://127.0.0.1:1/\n"


def _children() -> str:
    thread = threading.get_native_id()
    return Path(f"/proc/{os.getpid()}/task/{thread}/children").read_text()
