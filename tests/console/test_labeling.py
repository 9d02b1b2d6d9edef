"""The Label page: questions, keys, and what becomes of the answers."""

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.console.labeling import Hands, new_session, votes

from svddtune.client import TuningClient


def test_a_session_is_labelled_to_its_end_by_keys(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    hands = Hands(page).begin()
    ended = page.get_by_role("heading", name="The budget of labels is spent.")
    while len(hands.pressed) < 12:
        hands.answer()
    expect(ended).to_be_visible()
    page.get_by_role("link", name="See what was found").wait_for()
    stored = {
        event.observation_id: (event.verdict.value, event.labeler)
        for event in console_client.labels(session)
        if event.verdict
    }
    assert stored == {key: (verdict, "ann") for key, verdict in hands.pressed.items()}
    assert all(len(events) == 1 for events in votes(console_client, session).values())
