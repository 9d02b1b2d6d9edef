"""The pictures of the Label page for docs/console.md, if they are asked for."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.console.labeling import Hands, new_session

from svddtune.client import TuningClient


@pytest.mark.skipif("SVDDTUNE_PICTURES" not in os.environ, reason="no pictures asked for")
def test_pictures(
    open_page: Callable[..., Page], console_client: TuningClient, pictures: Path
) -> None:
    session = new_session(
        console_client,
        budget=30,
        name="Presses",
        display=[
            {
                "machine": f"press {row % 4}",
                "ticket": f"https://tracker.example/T-{row + 100}",
                "log": f"10:{row % 60:02} start\n10:{row % 60:02} valve opened by the guard\n"
                f"10:{row % 60:02} stop",
                "settings": json.dumps({"program": 7, "limits": {"low": 1, "high": 6}}),
            }
            for row in range(120)
        ],
    )
    page = open_page(f"#/{session.name}/label", height=1000)
    hands = Hands(page).begin("ann")
    while len(hands.pressed) < 13:
        hands.answer()
    page.locator('aside[data-ahead="true"]').wait_for()
    page.screenshot(path=pictures / "label.png")
    page.set_viewport_size({"width": 360, "height": 740})
    page.screenshot(path=pictures / "label-phone.png")
