"""Values have a repr of one line, and tables in notebooks that hostile names cannot break."""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import matplotlib
import pytest
from tests.client.summary.shown_values import HOSTILE, shown_values
from tests.text.test_text import steers

from svddtune.client import (
    EmbeddedStack,
    LabelerReport,
    NotInstalled,
    Result,
    SessionConfig,
    TuningResult,
)
from svddtune.client.figures import History
from svddtune.client.summary.markup import Numeral, curve, facts, listed

pytestmark = pytest.mark.integration

TAGS = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li"}
DRAWN = {"svg", "title", "rect", "line", "circle", "polyline"}
# What must have a table; the repr of the others says it all.
TABLES = {
    "agreement", "dataset", "detectors", "done", "drift", "effect", "labeler", "model", "query",
    "result", "session", "tuned",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def values(stack: EmbeddedStack) -> dict[str, object]:
    return shown_values(stack.address)


def html_of(value: object) -> str | None:
    method = getattr(value, "_repr_html_", lambda: None)
    found: str | None = method()
    return found


def test_repr_is_one_short_line_that_steers_nothing(values: dict[str, object]) -> None:
    for name, value in values.items():
        for one in value if type(value) is tuple else (value,):
            text = repr(one)
            assert len(text) <= 120, (name, text)
            assert not steers(text), (name, text)
            assert "array([" not in text, (name, text)
            assert " object at 0x" not in text, (name, text)


def test_repr_says_what_matters_most(values: dict[str, object]) -> None:
    session, result = repr(values["session"]), repr(values["result"])
    assert re.search(r"labeling, \d+ of 16 labels, gamma [\d.e+-]+ ", session), session
    assert re.search(r"gamma .*, C .*, kappa .*, \d+ outside>$", result), result
    assert repr(values["model"]).startswith("<SvddModel gamma ")
    assert re.fullmatch(r"TuningClient\('.+:\d+'\)", repr(values["client"]))
    assert "by '" in repr(values["dialogue"])


def test_repr_of_settings_can_be_evaluated() -> None:
    assert repr(SessionConfig()) == "SessionConfig()"
    given = SessionConfig(budget=40, gamma_bounds=(0.1, 2.0))
    assert repr(given) == "SessionConfig(budget=40, gamma_bounds=(0.1, 2.0))"
    assert eval(repr(given), {"SessionConfig": SessionConfig}) == given


def test_tables_are_there_and_escape_every_text(values: dict[str, object]) -> None:
    tables = {name: html for name, value in values.items() if (html := html_of(value)) is not None}
    assert set(tables) >= TABLES
    for name, html in tables.items():
        found = read(html)
        assert found.tags <= TAGS | DRAWN, name
        assert "script" not in found.tags, name
        assert not any(key.startswith("on") for key, _ in found.attributes), name
        assert not any("background" in value or "color:" in value for _, value in found.attributes)
        assert not steers(html), name
    for name in ("session", "dataset", "query", "tuned"):
        assert "<script>alert(1)</script>" in read(tables[name]).text, name


def test_tables_say_what_the_result_is(values: dict[str, object]) -> None:
    text = read(str(html_of(values["tuned"]))).text
    for part in ("gamma", "C", "kappa", "rows outside", "Rules without labels", "score"):
        assert part in text, text
    assert "dashed line is the chosen gamma" in text
    assert "withdrawn" not in read(str(html_of(values["labeler"]))).text


def test_what_is_not_known_of_a_labeler_is_left_out(values: dict[str, object]) -> None:
    known = values["labeler"]
    assert isinstance(known, LabelerReport)
    text = read(str(html_of(known))).text
    assert f"of {known.compared} observations" in text
    assert "agrees with itself" not in text  # nobody was asked twice
    assert "control" not in text
    assert "nan" not in text


def test_numbers_and_their_heading_stand_at_the_right() -> None:
    table = listed("", ("name", "value"), [("a", Numeral("0.5")), ("b", 12)])
    assert table.count("text-align:right") == 3
    assert table.count("text-align:left") == 3


def test_picture_is_left_out_where_there_is_nothing_to_draw() -> None:
    assert curve([1.0], [0.5], 1.0, "one point") == ""
    assert curve([1.0, 2.0], [0.5, float("nan")], 1.0, "one number") == ""


def test_fact_without_a_value_is_left_out() -> None:
    assert read(facts(HOSTILE, [("a", ""), ("b", 0)])).text.endswith("b0")


@pytest.fixture
def pyplot() -> Iterator[Any]:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_result_is_drawn_with_all_its_parts(values: dict[str, object], pyplot: Any) -> None:
    tuned, result = values["tuned"], values["result"]
    assert isinstance(tuned, TuningResult)
    assert isinstance(result, Result)
    titles = [axes.get_title(loc="left") for axes in tuned.plot()]
    assert len(titles) == 4
    assert "Alignment over gamma" in titles[0]
    for plot in (
        result.plot_alignment,
        result.plot_costs,
        result.plot_detectors,
        result.plot_comparisons,
    ):
        _, axes = pyplot.subplots()
        assert plot(axes) is axes
        assert plot() is not axes


def test_history_is_drawn(values: dict[str, object], pyplot: Any) -> None:
    history = values["history"]
    assert isinstance(history, History)
    assert len(history) > 1
    drawn = history.plot().lines[0].get_xdata()
    assert max(drawn) == max(point.labels for point in history)
    assert history.plot_quality().get_title(loc="left")


def test_missing_matplotlib_is_told(
    values: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = values["result"]
    assert isinstance(result, Result)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NotInstalled, match=r"pip install 'svddtune\[pictures\]'"):
        result.plot()
