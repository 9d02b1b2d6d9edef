"""The walk of a newcomer who has nothing but the README: a CSV file is labelled in the browser."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.console.labeling import Hands
from tests.console.test_create import drop, machines
from tests.prose import ROOT
from tests.waiting import wait_until

PROGRAM = [sys.executable, "-m", "svddtune.client"]
MOST_ACTIONS, MOST_SECONDS = 6, 180


@contextmanager
def running(line: str, folder: Path, *more: str) -> Iterator[Callable[[], str]]:
    """Run a command line of the README; yields what waits for the page that it opens.

    The browser of this machine is a program that notes the address. At the end comes Ctrl-C.
    """
    assert line in (ROOT / "README.md").read_text()
    noted = folder / "address"
    browser = folder / "browser"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" > {shlex.quote(str(noted))}.new\n'
        f"mv {shlex.quote(str(noted))}.new {shlex.quote(str(noted))}\n"
    )
    browser.chmod(0o755)
    process = subprocess.Popen(
        [*PROGRAM, *shlex.split(line)[1:], *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "BROWSER": f"{browser} %s"},
    )

    def opened() -> str:
        wait_until(lambda: noted.exists() or process.poll() is not None, timeout_s=150)
        assert process.poll() is None, process.communicate()
        return noted.read_text()

    with process:
        try:
            yield opened
        finally:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
    assert (process.returncode, err.splitlines()[-1]) == (0, "Stopped.")


@pytest.mark.slow
@pytest.mark.e2e
def test_own_data_are_labelled_in_six_actions_and_three_minutes(
    open_page: Callable[..., Page], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    actions: list[str] = []
    begun = time.monotonic()
    actions.append("svddtune up --open")
    # (The ports of the README may be taken on a machine that runs tests.)
    ports = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    with running("svddtune up --open", tmp_path, *ports) as opened:
        page = open_page("", url=opened().rstrip("/"))
        page.get_by_text("Drop a CSV file here").wait_for()
        actions.append("drop the file")
        drop(page, machines(200))
        send = page.get_by_role("button", name="Send the data")
        expect(send).to_be_enabled()
        actions.append("send the data")
        send.click()
        start = page.get_by_role("button", name="Start labelling")
        expect(start).to_be_focused()
        actions.append("start")
        page.keyboard.press("Enter")
        actions.append("give a name")
        page.get_by_label("Your name").fill("ann")
        page.keyboard.press("Enter")
        hands = Hands(page)
        hands.question()
        actions.append("answer")
        hands.press("i")
        seconds = time.monotonic() - begun
    record_property("seconds", round(seconds, 1))
    print(f"{len(actions)} actions, {seconds:.1f} s until the first answer is given")
    assert len(actions) <= MOST_ACTIONS
    assert seconds < MOST_SECONDS


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.e2e
def test_the_demo_ends_at_its_result_in_the_browser(
    open_page: Callable[..., Page], tmp_path: Path, pictures: Path | None
) -> None:
    with running("svddtune demo --open", tmp_path, "--budget", "12") as opened:
        address = opened()
        url, _, path = address.partition("/#/")
        assert re.fullmatch(r"sessions/[^/]+/result", path)
        page = open_page(f"#/{path}", url=url)
        expect(page.get_by_role("heading", level=1)).to_contain_text("Wisconsin")
        page.goto(f"{url}/#/")
        row = page.locator("table.sessions tbody tr")
        expect(row).to_contain_text("12 of 12")
        expect(row).to_contain_text("completed")
        page.get_by_role("cell", name="just now").last.wait_for()
        if pictures:
            page.screenshot(path=pictures / "overview.png")
    assert (tmp_path / "svddtune-demo" / "model.npz").is_file()
