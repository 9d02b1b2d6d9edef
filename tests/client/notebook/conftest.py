"""The real Chromium of the console's tests."""

from tests.console.conftest import WAIT_MS, Watched, browser, pictures

__all__ = ["WAIT_MS", "Watched", "browser", "pictures"]
