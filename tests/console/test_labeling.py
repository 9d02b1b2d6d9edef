"""The Label page: questions, keys, and what becomes of the answers."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.console import axe
from tests.console.labeling import Hands, new_session, votes
from tests.waiting import wait_until

from svddtune.client import SessionState, TuningClient


def test_a_session_is_labelled_to_its_end_by_keys(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    hands = Hands(page).begin()
    while len(hands.pressed) < 12:
        hands.answer()
    expect(page.get_by_role("heading", name="The budget of labels is spent.")).to_be_visible()
    stored = {
        event.observation_id: (event.verdict.value, event.labeler)
        for event in console_client.labels(session)
        if event.verdict
    }
    assert stored == {key: (verdict, "ann") for key, verdict in hands.pressed.items()}
    assert all(len(events) == 1 for events in votes(console_client, session).values())
    page.get_by_role("link", name="See what was found").click()
    expect(page).to_have_url(re.compile(f"{session.name}/result$"))


def test_undo_skip_unsure_and_confidence(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    hands = Hands(page).begin("eve@lab")

    wrong = hands.press("o")
    page.keyboard.press("z")
    expect(page.get_by_text("Asked again: you said outlier.")).to_be_visible()
    assert hands.question() == wrong
    hands.press("i")

    hands.question()
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="probably")).to_be_checked()
    doubted = hands.press("o")
    expect(page.get_by_role("radio", name="sure", exact=True)).to_be_checked()
    unsure = hands.press("u")

    skipped = hands.question()
    page.keyboard.press("s")
    page.get_by_role("dialog").get_by_role("button", name="Nobody").click()
    expect(hands.heading.filter(has_text=skipped)).to_have_count(0)
    later = hands.question()
    page.keyboard.press("s")
    page.keyboard.press("s")
    expect(hands.heading.filter(has_text=later)).to_have_count(0)
    while later not in hands.pressed:
        hands.answer()
    expect(page.get_by_text("not stored yet")).to_have_count(0)

    assert votes(console_client, session)[wrong] == [
        "labeled outlier",
        "retracted outlier",
        "labeled inlier",
    ]
    events = {event.observation_id: event for event in console_client.labels(session)}
    assert events[doubted].confidence == 0.75
    assert (events[unsure].confidence, votes(console_client, session)[unsure]) == (
        None,
        ["labeled unsure"],
    )
    assert skipped not in events


def test_keys_are_the_fields_own_while_somebody_types(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    page.get_by_label("Your name").press_sequentially("iou")
    hands = Hands(page).begin("iou")
    observation = hands.question()
    page.keyboard.press("Control+i")
    page.keyboard.press("Alt+o")
    page.keyboard.press("?")
    help_page = page.get_by_role("dialog", name="Keys")
    expect(help_page).to_be_visible()
    page.keyboard.press("i")
    page.keyboard.press("Escape")
    expect(help_page).to_have_count(0)
    assert hands.question() == observation
    assert list(console_client.labels(session)) == []


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (360, False),
        pytest.param(1280, True, marks=pytest.mark.slow),
        pytest.param(2560, False, marks=pytest.mark.slow),
    ],
)
def test_the_page_is_accessible_and_fits(
    width: int,
    dark: bool,
    open_page: Callable[..., Page],
    console_client: TuningClient,
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label", width=width, dark=dark)
    hands = Hands(page).begin(f"ann{width}")
    hands.question()
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("s")
    page.get_by_role("dialog").wait_for()
    assert axe.violations(page) == []
    page.keyboard.press("Escape")
    for name in ("Inlier", "Outlier", "Unsure", "Skip …", "Undo", "Keys"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 40
    # By touch, too.
    observation = hands.question()
    page.get_by_role("button", name="Inlier").click()
    expect(hands.heading.filter(has_text=re.compile(f": {observation}$"))).to_have_count(0)


def test_two_people_label_at_once(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client, overlap=2, overlap_rule="always", budget=11)
    both = [Hands(open_page(f"#/{session.name}/label")).begin(name) for name in ("ann", "bob")]
    for hands in both:
        hands.question()
        expect(
            hands.page.get_by_text(re.compile(r"questions? with other labelers"))
        ).to_be_visible()
    for _ in range(4):
        for hands in both:
            hands.answer()
    for hands in both:
        expect(hands.page.get_by_text("not stored yet")).to_have_count(0)
    stored: dict[str, dict[str, str]] = {"ann": {}, "bob": {}}
    for event in console_client.labels(session):
        assert event.verdict
        stored[event.labeler][event.observation_id] = event.verdict.value
    assert stored == {"ann": both[0].pressed, "bob": both[1].pressed}
    _, agreement = console_client.list_labelers(session)
    assert agreement is not None


@pytest.mark.slow
def test_a_blind_session_shows_nothing_of_others(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client, blind=True)
    with console_client.tuning(session, labeler="bob") as tuning:
        tuning.label("part-10", "outlier")
        tuning.label("part-11", "inlier")
    page = open_page(f"#/{session.name}/label")
    Hands(page).begin().answer()
    expect(page.get_by_text("3 of 12 labels", exact=True)).to_be_visible()
    Hands(page).question()
    text = page.locator("main").inner_text()
    assert not re.search(r"\d inlier|\d outlier|Nearest|other labelers|gamma|kappa", text)


@pytest.mark.slow
def test_a_paused_session_says_so_and_goes_on(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    hands = Hands(page).begin()
    hands.answer()
    console_client.pause_session(session)
    paused = page.get_by_text("The session is paused.")
    # Questions that are held stay.
    expect(paused.or_(hands.ready).first).to_be_visible()
    while not paused.is_visible():
        hands.answer()
        expect(paused.or_(hands.ready).first).to_be_visible()
    page.get_by_role("button", name="Resume the session").click()
    hands.answer()
    console_client.cancel_session(session)
    expect(page.get_by_role("heading", name="The session was cancelled.")).to_be_visible()


@pytest.mark.slow
def test_one_tab_at_a_time_asks(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    hands = Hands(page).begin()
    hands.question()
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_text("You are labelling this in another tab.").wait_for()
    other.get_by_role("button", name="Label here").click()
    page.get_by_text("You are labelling this in another tab.").wait_for()
    Hands(other).answer()
    expect(other.get_by_text("1 of 12 labels")).to_be_visible()


@pytest.mark.slow
def test_a_tab_that_comes_back_at_once_does_not_block_itself(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    hands = Hands(page).begin()
    hands.question()
    # The lock that the page has left is freed only after the page has asked for it anew.
    page.evaluate(
        """async ([name, label]) => {
            const until = async (is) => { while (!is()) await new Promise(requestAnimationFrame); };
            location.hash = '#/';
            await until(() => document.querySelector('.overview'));
            let free;
            await new Promise((held) => {
                navigator.locks.request(name, () => {
                    held();
                    return new Promise((resolve) => { free = resolve; });
                });
            });
            location.hash = label;
            const asks = async () =>
                (await navigator.locks.query()).pending.some((one) => one.name === name);
            while (!document.querySelector('.notice') && !(await asks())) await 0;
            free();
        }""",
        [f"svddtune.label/ann/{session.name}", f"#/{session.name}/label"],
    )
    hands.answer()
    page.reload()
    hands.answer()
    expect(page.get_by_text("2 of 12 labels")).to_be_visible()


@pytest.mark.slow
def test_any_session_is_served_at_one_address(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client, priority=9, name="First come")

    def asks() -> bool:
        now = console_client.get_session(session)
        return now.state is SessionState.LABELING and not now.ranking_pending

    wait_until(asks)
    page = open_page("#/label")
    hands = Hands(page).begin("zoe")
    page.get_by_role("heading", name="Label First come").wait_for()
    observation = hands.answer()
    # (The next question may be another session's.)
    wait_until(lambda: observation in votes(console_client, session))
    console_client.cancel_session(session)


# Presses keys faster than the browser draws.
AT_ONCE = """async (keys) => {
  for (const key of keys) {
    const press = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(press);
    await new Promise((next) => setTimeout(next));
  }
}"""


def test_keys_faster_than_the_screen_mean_what_they_say(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = new_session(console_client)
    page = open_page(f"#/{session.name}/label")
    hands = Hands(page).begin("fast@lab")
    for _ in range(3):
        later = hands.question()
        page.evaluate(AT_ONCE, ["s", "s"])
        expect(hands.heading.filter(has_text=re.compile(f": {later}$"))).to_have_count(0)
        # The second key is not for the question that the first one brought.
        answered = hands.question()
        page.evaluate(AT_ONCE, ["i", "i"])
        expect(hands.heading.filter(has_text=re.compile(f": {answered}$"))).to_have_count(0)
    hands.question()
    wait_until(lambda: len(votes(console_client, session)) == 3)
    assert console_client.get_session(session).counts.inlier == 3
