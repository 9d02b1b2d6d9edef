"""The console's files: built from its sources, small, and served under a strict policy."""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from playwright.sync_api import Page
from tests.console.finished import Finished
from tests.prose import ROOT

from svddtune.client.cli.app import app

SOURCES = ROOT / "console"
BUILT = ROOT / "service" / "svddtune" / "service" / "http" / "console"
MOST_SCRIPT_BYTES = 200_000
# With the first page; and with the page of a session, which has the most.
MOST_FIRST_BYTES = 90_000
MOST_PAGE_BYTES = 150_000
FIRST_PAINT_MS = 1000


def digest() -> str:
    """As console/build.mjs computes it."""
    found = [
        str(path.relative_to(SOURCES))
        for path in (SOURCES / "src").rglob("*")
        if path.is_file() and not path.name.endswith(".gen.ts")
    ]
    whole = hashlib.sha256()
    for name in sorted(["build.mjs", "icon.svg", "index.html", "package-lock.json", *found]):
        whole.update(f"{name}\n".encode() + (SOURCES / name).read_bytes() + b"\0")
    return whole.hexdigest()


def test_assets_were_built_from_these_sources() -> None:
    built = (BUILT / "sources.sha256").read_text().strip()
    assert built == digest(), "run make console"


@pytest.mark.slow
def test_npm_builds_the_same_bytes_and_finds_no_fault_in_types(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    folder = tmp_path / "service" / "svddtune" / "service" / "http"
    console = tmp_path / "console"
    shutil.copytree(SOURCES, console, ignore=shutil.ignore_patterns("node_modules", "*.gen.ts"))
    folder.mkdir(parents=True)
    shutil.copy(BUILT.parent / "openapi.json", folder)
    for command in (
        ["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        ["run", "check"],
        ["run", "build"],
    ):
        subprocess.run(["npm", *command], cwd=console, check=True, capture_output=True, text=True)
    made = {path.name: path.read_bytes() for path in (folder / "console").iterdir()}
    assert made == {path.name: path.read_bytes() for path in BUILT.iterdir()}


def test_scripts_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in BUILT.glob("*.js")}
    assert 0 < sum(sizes.values()) < MOST_SCRIPT_BYTES, sizes


def test_commands_that_the_pages_name_exist() -> None:
    named = {
        found
        for path in (SOURCES / "src").rglob("*.ts*")
        for found in re.findall(r"(?<!from )svddtune ([a-z]+(?: [a-z]+)?)", path.read_text())
    }
    assert {"worker", "jobs list", "dataset add"} <= named
    for line in named:
        command: Any = typer.main.get_command(app)
        for word in line.split():
            if hasattr(command, "commands"):
                assert word in command.commands, line
                command = command.commands[word]


def test_files_come_with_a_strict_policy_and_are_not_sent_twice(console_url: str) -> None:
    for path, kind in {
        "/": "text/html; charset=utf-8",
        "/assets/console.js": "text/javascript; charset=utf-8",
        "/assets/console.css": "text/css; charset=utf-8",
        "/assets/icon.svg": "image/svg+xml",
    }.items():
        response = httpx.get(f"{console_url}{path}")
        assert (response.status_code, response.headers["content-type"]) == (200, kind)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        again = httpx.get(
            f"{console_url}{path}", headers={"if-none-match": response.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")
    missing = httpx.get(f"{console_url}/assets/none.js")
    assert missing.status_code == 404
    assert json.loads(missing.content)["error"]["details"][0]["reason"] == "UNKNOWN_PATH"


def test_first_paint_comes_soon_and_pages_load_their_scripts_when_shown(
    open_page: Callable[..., Page], finished: Finished
) -> None:
    page = open_page()
    page.get_by_role("heading", name="Sessions").wait_for()
    paint = page.evaluate(
        "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    assert paint < FIRST_PAINT_MS
    assert 0 < script_bytes(page) < MOST_FIRST_BYTES
    page.evaluate("(hash) => { location.hash = hash; }", f"#/sessions/{finished.id}")
    page.get_by_role("heading", name="Map of the data").wait_for()
    assert MOST_FIRST_BYTES < script_bytes(page) < MOST_PAGE_BYTES


def script_bytes(page: Page) -> int:
    """Size of the scripts that a page has loaded so far."""
    found: int = page.evaluate(
        """() => performance.getEntriesByType('resource')
          .filter(({name}) => name.endsWith('.js'))
          .reduce((all, one) => all + one.decodedBodySize, 0)"""
    )
    return found


def test_a_page_whose_scripts_went_with_an_update_says_so(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("heading", name="Sessions").wait_for()
    page.route("**/assets/part-*.js", lambda route: route.fulfill(status=404))
    page.get_by_role("link", name="New session").click()
    page.get_by_text("The service has been updated").wait_for()
    page.unroute_all()
    page.get_by_role("button", name="Load the new pages").click()
    page.get_by_role("heading", name="New session").wait_for()
