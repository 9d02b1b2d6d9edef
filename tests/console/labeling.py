"""What tests of the Label page share: a session whose outliers are known, and a labeler's hands."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from playwright.sync_api import Locator, Page, expect

from svddtune.client import Session, TuningClient

FIELDS = ("width", "height", "weight")


def rows(count: int = 120) -> np.ndarray[Any, Any]:
    """Rows around a point; each tenth is far away."""
    drawn = np.random.default_rng(0).normal(size=(count, len(FIELDS)))
    drawn[::10] += 9
    return drawn


def is_outlier(row: int) -> bool:
    """The truth about a row."""
    return row % 10 == 0


def new_session(
    client: TuningClient,
    *,
    display: Sequence[Mapping[str, str]] | None = None,
    **settings: Any,
) -> Session:
    """A session on the same dataset for all, so that it is prepared once, but for other fields."""
    data = rows()
    dataset = client.upload_dataset(
        data,
        feature_names=FIELDS,
        observation_ids=[f"part-{row}" for row in range(len(data))],
        display=display or [{"line": f"press {row % 4}"} for row in range(len(data))],
    )
    return client.create_session(dataset, **{"budget": 12, "seed": 1, **settings})


class Hands:
    """A person at the page: reads the question, and presses keys."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pressed: dict[str, str] = {}

    @property
    def heading(self) -> Locator:
        """The question's heading."""
        return self.page.get_by_role("heading", name=re.compile(r"^Question \d+:"))

    @property
    def ready(self) -> Locator:
        """There once the page takes an answer on the question."""
        return self.page.locator('.controls[data-ready="true"]')

    def begin(self, name: str = "ann") -> "Hands":
        """Say who labels."""
        self.page.get_by_label("Your name").fill(name)
        self.page.get_by_role("button", name="Begin").click()
        return self

    def question(self) -> str:
        """The observation that is asked about, once the page takes an answer on it."""
        self.ready.wait_for()
        return re.sub(r"^Question \d+: ", "", self.heading.inner_text())

    def press(self, key: str) -> str:
        """Press a key on the question; returns its observation."""
        observation = self.question()
        self.page.keyboard.press(key)
        if key in "iou":
            self.pressed[observation] = {"i": "inlier", "o": "outlier", "u": "unsure"}[key]
            expect(self.heading.filter(has_text=re.compile(f": {observation}$"))).to_have_count(0)
        return observation

    def answer(self) -> str:
        """Answer with the truth."""
        row = int(self.question().split("-")[1])
        return self.press("o" if is_outlier(row) else "i")

    def until(self, done: Callable[[], bool]) -> None:
        """Answer with the truth until something holds."""
        while not done():
            self.answer()


def votes(client: TuningClient, session: Session) -> dict[str, list[str]]:
    """Each observation's events in the log, as they came."""
    found: dict[str, list[str]] = {}
    for event in client.labels(session):
        found.setdefault(event.observation_id, []).append(
            f"{event.kind} {event.verdict.value if event.verdict else ''}"
        )
    return found
