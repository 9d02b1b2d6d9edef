"""Runs axe, which knows the rules of accessible pages, in a page."""

import pytest
from playwright.sync_api import Page
from tests.prose import ROOT

AXE = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
_GRAVE = {"serious", "critical"}


def violations(page: Page) -> list[str]:
    """What axe finds serious or critical, with the elements."""
    if not AXE.exists():
        pytest.skip("no axe: make console-packages")
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']]}"
        for one in found["violations"]
        if one["impact"] in _GRAVE
    ]
