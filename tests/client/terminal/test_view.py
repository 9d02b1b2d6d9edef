"""What a labeler sees, at any size and whatever the data hold."""

import io
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.client.terminal.questions import SESSION, query, session
from tests.profiles import sized

from svddtune.client import Ack, LabelCounts, Nearby, SkipMode, Verdict
from svddtune.client.terminal import messages as words
from svddtune.client.terminal.card import bar, everything
from svddtune.client.terminal.commands import Key
from svddtune.client.terminal.controller import Desk
from svddtune.client.terminal.line_renderer import Plain
from svddtune.client.terminal.requests import Card
from svddtune.client.terminal.screen import Screen
from svddtune.client.terminal.view import View
from svddtune.client.types import SessionState, Unusual

VIEW = View("localhost:1", "ann")
NAMES = tuple(f"feature {j}" for j in range(12))


def paper(width: int = 80, height: int = 24, **options: Any) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, highlight=False, **options)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def desk_with(**changes: Any) -> Desk:
    desk = Desk()
    desk.start()
    desk.known.told(connected=True, sessions={SESSION: session()})
    desk.came(0.0, query(1, **changes), NAMES)
    return desk


def drawn(desk: Desk, width: int = 80, height: int = 24, now: float = 9.0, note: str = "") -> str:
    console = paper(width, height)
    console.print(VIEW.draw(desk, note, now, console))
    return written(console)


def test_question_shows_what_helps_to_answer_it() -> None:
    text = drawn(desk_with())
    for part in (
        "pumps (p00-1)  as ann",
        "Query 1   observation case-1",
        "host     db-7",
        "worst area",
        "2019",
        "+8.9",
        "550.6",
        "inlier case-90 (0.5), outlier case-91 (0.71)",
        "Why: Its label is expected",
        "7/20 labels: 5 inlier, 2 outlier, 1 unsure",
        "gamma 0.4, C 0.01, kappa 0.6 [0.2, 0.9]",
        "3 are needed before stopping",
        "typical inlier",
        "[i]nlier   [o]utlier",
    ):
        assert part in text, part


def test_typical_values_are_named_after_the_observations_that_the_query_names() -> None:
    # Five inliers are labelled by now; the query was ranked before.
    assert "typical row" in drawn(desk_with(reference_inliers=0))


def test_few_features_are_all_shown_and_many_are_counted() -> None:
    unusual = (Unusual("", 1, 3.0, 1.0, 2.0),)
    text = drawn(desk_with(features=np.arange(3.0), unusual=unusual))
    assert [text.count(f"feature {j}") for j in range(3)] == [1, 1, 1]
    assert "feature (10 more: f)" in drawn(desk_with())


def test_everything_has_all_features_and_fields() -> None:
    console = paper(60, 24)
    console.print(everything(query(1, display={f"k{j}": "v" for j in range(30)}), NAMES))
    text = written(console)
    assert all(name in text for name in NAMES)
    assert all(f"k{j}" in text for j in range(30))


@pytest.mark.parametrize("height", [10, 18, 24, 50])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_picture_fits(width: int, height: int) -> None:
    desk = desk_with(display={f"key {j}": "value " * 40 for j in range(20)}, why="because " * 50)
    lines = drawn(desk, width, height).splitlines()
    assert all(len(line) <= width for line in lines)
    if width >= 80 and height >= 18:
        assert len(lines) < height
    assert any("Query 1" in line for line in lines)


@settings(max_examples=sized(60))
@given(
    text=st.text(max_size=40),
    value=st.floats(),
    deviation=st.floats(),
    distance2=st.floats(min_value=0),
)
def test_data_do_not_steer_the_terminal(
    text: str, value: float, deviation: float, distance2: float
) -> None:
    hostile = f"\x1b[2J\x9b1m\u202e[bold]{text}"
    desk = desk_with(
        observation_id=hostile,
        display={hostile: hostile},
        why=hostile,
        features=np.array([value] * 12),
        unusual=(Unusual(hostile, 0, value, value, deviation),),
        nearby=(Nearby(hostile, Verdict.INLIER, distance2),),
    )
    shown = drawn(desk)
    assert not set(shown) & {"\x1b", "\x9b", "\u202e", "\r"}
    assert "[bold]" in shown


@given(st.floats())
def test_bar_is_as_long_as_the_deviation(deviation: float) -> None:
    for ascii in (True, False):
        text = bar(deviation, ascii=ascii)
        assert len(text) == 15
        blocks = text.count("#" if ascii else "█")
        assert blocks == (0 if math.isnan(deviation) else round(min(7.0, abs(deviation))))
        side = text[:7] if deviation < 0 else text[8:]
        assert side.count("#" if ascii else "█") == blocks


def test_terminal_without_unicode_gets_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=file, width=80, height=24, highlight=False)
    console.print(VIEW.draw(desk_with(), "", 9.0, console))
    file.flush()
    assert isinstance(file.buffer, io.BytesIO)
    assert b"|#######" in file.buffer.getvalue()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"state": SessionState.PREPARING, "atlas_progress": 0.4}, "prepared (40%)"),
        ({"state": SessionState.PAUSED}, "paused"),
        ({"state": SessionState.ESTIMATING}, "result is being computed"),
        ({"leased_count": 13}, "all queries are with others (13)"),
        ({"counts": LabelCounts(20, 0, 0, 20), "awaiting_votes": 3}, "vote on 3 observations"),
        ({}, "being ranked"),
    ],
)
def test_waiting_says_for_what(changes: dict[str, Any], says: str) -> None:
    desk = Desk()
    desk.start()
    desk.known.told(connected=True, sessions={SESSION: session(**changes)})
    assert says in drawn(desk)


def test_first_contact_and_a_dialogue_about_any_session_wait_too() -> None:
    desk = Desk()
    assert "Connecting to localhost:1" in drawn(desk)
    desk.known.told(connected=True, sessions={})
    assert "No session has a question now" in drawn(desk)


def test_lost_connection_leaves_the_question_and_says_what_is_kept() -> None:
    desk = desk_with()
    desk.known.told(connected=False, sessions=desk.known.sessions)
    assert "Connection lost, trying again" in drawn(desk)
    desk.command(1.0, Verdict.OUTLIER)
    text = drawn(desk, now=1000.0)
    assert "Query 1   observation case-1   outlier" in text
    assert "1 answer kept" in text


def test_confirmation_help_and_notes_are_shown() -> None:
    desk = desk_with()
    assert "somebody else answered" in drawn(desk, note="somebody else answered")
    desk.command(1.0, SkipMode.DROP)
    assert "Drop case-1 from the session" in drawn(desk)
    desk = desk_with()
    desk.command(1.0, Key.HELP)
    assert "takes your last answer back" in drawn(desk)
    card = Card(query(4), leased=False, taken_back=Verdict.OUTLIER)
    assert words.heading(card).endswith("(again: you said outlier)")


@pytest.mark.parametrize(
    ("pace_s", "says"),
    [(1.0, "13 s"), (10.0, "2 min"), (600.0, "2 h 10 min"), (0.001, "1 s")],
)
def test_time_left_follows_the_labelers_pace(pace_s: float, says: str) -> None:
    desk = desk_with()
    assert words.time_left(desk) == ""
    desk.paces_s = [pace_s, pace_s, 1000.0]
    assert words.time_left(desk) == f"about {says} left"


def test_answer_lingers_and_is_then_gone() -> None:
    desk = desk_with()
    desk.command(10.0, Verdict.INLIER)
    desk.stored(10.1, 1, Ack("", 1, True, LabelCounts(1, 0, 0, 1)))
    assert "case-1   inlier" in drawn(desk, now=10.2)
    assert "being ranked" in drawn(desk, now=20.0)


def test_screen_draws_only_what_has_changed_and_keeps_what_was_done() -> None:
    console = paper(force_terminal=True, color_system=None, legacy_windows=False)
    desk = desk_with()
    with Screen(console, VIEW) as screen:
        screen.show(desk, 1.0)
        before = written(console)
        screen.show(desk, 1.1)
        assert written(console) == before
        desk.command(2.0, Verdict.OUTLIER)
        desk.stored(2.1, 1, Ack("", 1, True, LabelCounts(1, 0, 0, 1)))
        screen.show(desk, 2.2)
    assert "    1  case-1  outlier" in written(console)


def test_plain_prints_each_question_once_and_waits_without_a_word() -> None:
    console = paper()
    desk = desk_with()
    plain = Plain(console, VIEW, keys=False)
    for now in (1.0, 1.1, 1.2):
        plain.show(desk, now)
    assert written(console).count("Query 1") == 1
    assert "Say inlier, outlier" in written(console)
    desk.command(2.0, Verdict.OUTLIER)
    plain.show(desk, 2.0)
    assert "being ranked" not in written(console)
    plain.show(desk, 9.0)
    assert "being ranked" in written(console)
    desk.known.told(connected=False, sessions=desk.known.sessions)
    plain.show(desk, 9.1)
    assert "Connection lost" in written(console)
    desk.came(9.2, query(2), NAMES)
    desk.command(20.0, Key.FEATURES)
    desk.command(20.0, SkipMode.DROP)
    plain.show(desk, 20.0)
    for part in ("Query 2 ", "all features", "Drop case-2", "feature 11"):
        assert part in written(console)
