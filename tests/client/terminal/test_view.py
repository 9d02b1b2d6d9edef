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

from svddtune.client import Ack, Judgement, LabelCounts, Nearby, SkipMode, Verdict
from svddtune.client.terminal import messages
from svddtune.client.terminal.card import bar, everything
from svddtune.client.terminal.commands import Action
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.line_renderer import LineRenderer
from svddtune.client.terminal.requests import Card
from svddtune.client.terminal.screen import ScreenRenderer
from svddtune.client.terminal.view import View
from svddtune.client.types import Adjudication, SessionState, Unusual
from svddtune.config import SessionConfig

VIEW = View("localhost:1", "ann")
NAMES = tuple(f"feature {j}" for j in range(12))


def paper(width: int = 80, height: int = 24, **options: Any) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, highlight=False, **options)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def controller_with(**changes: Any) -> LabelingController:
    controller = LabelingController()
    controller.start()
    controller.status.update(connected=True, sessions={SESSION: session()})
    controller.came(0.0, query(1, **changes), NAMES)
    return controller


def drawn(
    controller: LabelingController,
    width: int = 80,
    height: int = 24,
    now: float = 9.0,
    note: str = "",
) -> str:
    console = paper(width, height)
    console.print(VIEW.draw(controller, note, now, console))
    return written(console)


def test_question_shows_what_helps_to_answer_it() -> None:
    text = drawn(controller_with())
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
        "gamma 0.4 (minmax), C 0.01, kappa 0.6 [0.2, 0.9]",
        "3 are needed to tell whether more labels pay",
        "typical inlier",
        "[i]nlier   [o]utlier   probably: [k] inlier  [l] outlier   [u]nsure   [z] undo",
    ):
        assert part in text, part


def test_adjudicator_sees_that_its_vote_decides() -> None:
    text = drawn(controller_with(adjudication=Adjudication(1, 2, 0)))
    assert "your vote decides (so far 1 inlier, 2 outlier, 0 unsure)" in text
    blind = drawn(controller_with(adjudication=Adjudication(0, 0, 0)))
    assert "your vote decides." in blind
    assert "Adjudication" not in drawn(controller_with())


def test_typical_values_are_named_after_the_observations_that_the_query_names() -> None:
    # Five inliers are labelled by now; the query was ranked before.
    assert "typical row" in drawn(controller_with(reference_inliers=0))


def test_few_features_are_all_shown_and_many_are_counted() -> None:
    unusual = (Unusual("", 1, 3.0, 1.0, 2.0),)
    text = drawn(controller_with(features=np.arange(3.0), unusual=unusual))
    assert [text.count(f"feature {j}") for j in range(3)] == [1, 1, 1]
    assert "feature (10 more: press f)" in drawn(controller_with())


@pytest.mark.parametrize(
    ("own", "names"), [(("worst area", "heat"), ()), ((), ("a", "b", "", "c", "heat", "d"))]
)
def test_visible_features_have_their_values_and_names(
    own: tuple[str, ...], names: tuple[str, ...]
) -> None:
    asked = query(
        1,
        features=np.array([2019.0, 0.625]),
        columns=(3, 4),
        names=own,
        unusual=(Unusual("worst area", 3, 2019.0, 550.6, 8.9),),
        display={},
    )
    controller = LabelingController()
    controller.came(0.0, asked, names)
    console = paper()
    console.print(everything(asked, names))
    for text in (drawn(controller), written(console)):
        lines = {line.split("  ")[0].strip(): line for line in text.splitlines() if line.strip()}
        assert "0.625" in lines["heat"]
        assert "2019" in next(line for line in text.splitlines() if "550.6" in line)


def test_hidden_name_is_replaced_by_the_column() -> None:
    asked = query(1, features=np.array([1.0, 2.0]), unusual=())
    console = paper()
    console.print(everything(asked, ("", "heat")))
    assert "column 0" in written(console)


def test_all_features_and_fields_can_be_shown() -> None:
    console = paper(60, 24)
    console.print(everything(query(1, display={f"k{j}": "v" for j in range(30)}), NAMES))
    text = written(console)
    assert all(name in text for name in NAMES)
    assert all(f"k{j}" in text for j in range(30))


@pytest.mark.parametrize("height", [10, 18, 24, 50])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_picture_fits_into_the_terminal(width: int, height: int) -> None:
    controller = controller_with(
        display={f"key {j}": "value " * 40 for j in range(20)}, why="because " * 50
    )
    lines = drawn(controller, width, height).splitlines()
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
def test_control_characters_in_data_do_not_reach_the_terminal(
    text: str, value: float, deviation: float, distance2: float
) -> None:
    hostile = f"\x1b[2J\x9b1m\u202e[bold]{text}"
    controller = controller_with(
        observation_id=hostile,
        display={hostile: hostile},
        why=hostile,
        features=np.array([value] * 12),
        unusual=(Unusual(hostile, 0, value, value, deviation),),
        nearby=(Nearby(hostile, Verdict.INLIER, distance2),),
    )
    renderer = drawn(controller)
    assert not set(renderer) & {"\x1b", "\x9b", "\u202e", "\r"}
    assert "[bold]" in renderer


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
    console.print(VIEW.draw(controller_with(), "", 9.0, console))
    file.flush()
    assert isinstance(file.buffer, io.BytesIO)
    assert b"|#######" in file.buffer.getvalue()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"state": SessionState.PREPARING, "atlas_progress": 0.4}, "prepared (40%)"),
        ({"state": SessionState.PAUSED}, "paused"),
        ({"state": SessionState.ESTIMATING}, "result is being computed"),
        ({"leased_count": 13}, "all 13 open queries are with others"),
        (
            {"counts": LabelCounts(20, 0, 0, 20), "awaiting_votes": 3},
            "votes of others on 3 observations",
        ),
        ({}, "being ranked"),
    ],
)
def test_waiting_says_what_for(changes: dict[str, Any], says: str) -> None:
    controller = LabelingController()
    controller.start()
    controller.status.update(connected=True, sessions={SESSION: session(**changes)})
    assert says in drawn(controller)


def test_first_contact_and_a_dialogue_about_any_session_wait_too() -> None:
    controller = LabelingController()
    assert "Connecting to localhost:1" in drawn(controller)
    controller.status.update(connected=True, sessions={})
    assert "No session has a question now" in drawn(controller)


def test_lost_connection_leaves_the_question_and_says_what_is_kept() -> None:
    controller = controller_with()
    controller.status.update(connected=False, sessions=controller.status.sessions)
    assert "Connection lost, reconnecting" in drawn(controller)
    controller.command(1.0, Verdict.OUTLIER)
    text = drawn(controller, now=1000.0)
    assert "Query 1   observation case-1   outlier" in text
    assert "1 answer kept" in text


def test_confirmation_help_and_notes_are_shown() -> None:
    controller = controller_with()
    assert "somebody else answered" in drawn(controller, note="somebody else answered")
    controller.command(1.0, SkipMode.DROP)
    assert "Drop case-1 from the session" in drawn(controller)
    controller = controller_with()
    controller.command(1.0, Action.HELP)
    assert "takes back your last answer" in drawn(controller)
    assert "counts as right with probability 0.75" in drawn(controller)
    card = Card(query(4), leased=False, taken_back=Judgement(Verdict.OUTLIER, 0.75))
    assert messages.heading(card).endswith("(again: you said probably outlier)")


@pytest.mark.parametrize(
    ("pace_s", "says"),
    [(1.0, "13 s"), (10.0, "2 min"), (600.0, "2 h 10 min"), (0.001, "1 s")],
)
def test_time_left_follows_the_labelers_pace(pace_s: float, says: str) -> None:
    controller = controller_with()
    assert messages.time_left(controller) == ""
    controller.paces_s = [pace_s, pace_s, 1000.0]
    assert messages.time_left(controller) == f"about {says} left"


def test_answer_stays_for_a_moment_and_then_disappears() -> None:
    controller = controller_with()
    controller.command(10.0, Verdict.INLIER)
    controller.stored(10.1, 1, Ack("", 1, True, LabelCounts(1, 0, 0, 1)))
    assert "case-1   inlier" in drawn(controller, now=10.2)
    assert "being ranked" in drawn(controller, now=20.0)


def test_screen_draws_changes_only_and_keeps_finished_queries() -> None:
    console = paper(force_terminal=True, color_system=None, legacy_windows=False)
    controller = controller_with()
    with ScreenRenderer(console, VIEW) as screen:
        screen.render(controller, 1.0)
        before = written(console)
        screen.render(controller, 1.1)
        assert written(console) == before
        controller.command(2.0, Verdict.OUTLIER)
        controller.stored(2.1, 1, Ack("", 1, True, LabelCounts(1, 0, 0, 1)))
        screen.render(controller, 2.2)
    assert "    1  case-1  outlier" in written(console)


def test_line_renderer_prints_each_question_once_and_short_waits_not_at_all() -> None:
    console = paper()
    controller = controller_with()
    plain = LineRenderer(console, VIEW, keys=False)
    for now in (1.0, 1.1, 1.2):
        plain.render(controller, now)
    assert written(console).count("Query 1") == 1
    assert "Type inlier, outlier" in written(console)
    controller.command(2.0, Verdict.OUTLIER)
    plain.render(controller, 2.0)
    assert "being ranked" not in written(console)
    plain.render(controller, 9.0)
    assert "being ranked" in written(console)
    controller.status.update(connected=False, sessions=controller.status.sessions)
    plain.render(controller, 9.1)
    assert "Connection lost" in written(console)
    controller.came(9.2, query(2), NAMES)
    controller.command(20.0, Action.FEATURES)
    controller.command(20.0, SkipMode.DROP)
    plain.render(controller, 20.0)
    for part in ("Query 2 ", "all features", "Drop case-2", "feature 11"):
        assert part in written(console)


def test_question_without_features_shows_its_fields_and_no_empty_table() -> None:
    hidden = {"features": np.empty(0), "unusual": (), "nearby": (), "reference_inliers": 0}
    text = drawn(controller_with(**hidden))
    assert "db-7" in text
    assert "case-1" in text
    assert "Why: " in text
    for heading in ("feature  ", "deviation", "typical", "press f"):
        assert heading not in text
    console = paper()
    console.print(everything(query(1, **hidden), NAMES))
    assert "postgres" in written(console)
    assert "the session shows no features" in written(console)
    assert "feature 0" not in written(console)


def test_progress_of_a_blind_session_names_no_classes() -> None:
    controller = controller_with()
    blind = session(
        config=SessionConfig(budget=20, blind=True), counts=LabelCounts(total=7), live=None
    )
    controller.status.update(connected=True, sessions={SESSION: blind})
    text = drawn(controller)
    assert "labels" in text
    assert "0 inlier" not in text
    assert "outlier," not in text
