"""The Label page where the service asks who calls."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.console.labeling import Hands, new_session, votes
from tests.e2e.processes import worker
from tests.service.access.world import OWN, world_at

from svddtune.client import TuningClient
from svddtune.process import tokens


def _sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.slow
def test_an_answer_waits_until_its_labeler_has_signed_in_again(
    open_page: Callable[..., Page], redis_url: str, tmp_path: Path
) -> None:
    with world_at(redis_url, tmp_path) as world, worker(redis_url):
        first, text = tokens.create(world.file, name="lea", project=OWN, role="labeler")
        address = world.process.ready["address"]
        with TuningClient(address, token=world.token("tuner")) as client:
            session = new_session(client)
            page = open_page(f"#/{session.name}/label", url=world.process.ready["http"])
            _sign_in(page, text)
            hands = Hands(page)
            hands.answer()
            expect(page.get_by_role("button", name="Change name")).to_have_count(0)
            hands.question()
            tokens.revoke(world.file, first.id)
            page.keyboard.press("u")
            page.get_by_role("heading", name="Sign in").wait_for()
            _, text = tokens.create(world.file, name="lea", project=OWN, role="labeler")
            _sign_in(page, text)
            hands.answer()
            expect(page.get_by_text("not stored yet")).to_have_count(0)
            events = list(client.labels(session))
            assert {event.labeler for event in events} == {"lea"}
            assert len(votes(client, session)) == len(events) == 3
            assert [event.verdict.value for event in events if event.verdict].count("unsure") == 1
            # Who only looks on is told so.
            page.get_by_role("button", name="Sign out").click()
            _sign_in(page, world.token("viewer"))
            page.get_by_text("Your role here is to look on.").wait_for()
