"""Pictures of results: their text can be read, their colours told apart, and gaps are named."""

import math
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.client.pictures.scene import moments, quality, result

from svddtune.client import pictures
from svddtune.client.pictures.style import INLIER, OUTLIER, log_axis, ticks
from svddtune.client.result import RefinedResult
from svddtune.client.types import Verdict

Draw = Callable[[Any], Any]

RESULTS = {
    "wide": result((1e-9, 1e9), (1e-6, 1.0)),
    "one decade": result((0.011, 0.09), (0.05, 0.4)),
    "narrow": result((0.61, 0.93), (0.0101, 0.0102)),
    "one point": result((0.5, 0.5), (0.1, 0.1), rules=0),
    "by alignment": result((0.01, 10), (0.02, 0.3), choice="alignment"),
    "many rules": result(rules=7),
    "not judged": result(quality=quality(math.nan), rules=2),
}
RANDOM = np.random.default_rng(1)
ROWS = RANDOM.normal(size=(60, 3))
SIDES = np.where(np.abs(ROWS).max(axis=1) > 2, np.int8(-1), np.int8(1))
ASKED = {Verdict.INLIER: [1, 2, 3], Verdict.OUTLIER: [int(np.argmin(SIDES))]}


def drawings() -> Iterator[Any]:
    for name, shown in RESULTS.items():
        for draw in (
            pictures.draw_alignment,
            pictures.draw_costs,
            pictures.draw_comparisons,
            pictures.draw_detectors,
        ):
            yield pytest.param(
                lambda axes, draw=draw, shown=shown: draw(axes, shown),
                id=f"{draw.__name__}, {name}",
            )
    for factor in (0.3, 1.3, 1.001):
        points = moments(30, factor)
        for over in (pictures.draw_history, pictures.draw_quality):
            yield pytest.param(
                lambda axes, over=over, points=points: over(axes, points),
                id=f"{over.__name__}, {factor}",
            )
    yield pytest.param(lambda axes: pictures.draw_history(axes, moments(1)), id="one moment")
    yield pytest.param(lambda axes: pictures.draw_rows(axes, ROWS, SIDES, ASKED), id="rows")


def texts(figure: Any) -> list[tuple[str, Any]]:
    """The texts that are seen, with their boxes."""
    figure.draw_without_rendering()
    found = []
    for axes in figure.axes:
        found += [axes._left_title, *axes.texts]
        if not axes.axison:
            continue
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            found.append(axis.label)
            for minor in (False, True):
                labels = axis.get_ticklabels(minor=minor)
                places = axis.get_ticklocs(minor=minor)
                pairs = zip(places, labels, strict=True)
                found += [label for place, label in pairs if low <= place <= high]
        if axes.get_legend() is not None:
            found += axes.get_legend().get_texts()
    renderer = figure.canvas.get_renderer()
    return [
        (text.get_text(), text.get_window_extent(renderer)) for text in found if text.get_text()
    ]


@pytest.mark.parametrize("draw", list(drawings()))
def test_texts_do_not_overlap_and_lie_within_a_small_picture(draw: Draw) -> None:
    with pictures.new_figure(4.2, 2.8) as figure:
        axes = figure.subplots()
        assert draw(axes) is axes
        found = texts(figure)
        assert len(found) >= 2
        for (one, first), (other, second) in combinations(found, 2):
            assert not first.overlaps(second), (one, other)
        for text, box in found:
            assert figure.bbox.x0 - 1 <= box.x0, text
            assert box.x1 <= figure.bbox.x1 + 1, text
            assert figure.bbox.y0 - 1 <= box.y0, text
            assert box.y1 <= figure.bbox.y1 + 1, text


def test_texts_of_matplotlibs_own_axes_overlap() -> None:
    """The check finds what it is for."""
    with pictures.new_figure(2.4, 2.0) as figure:
        axes = figure.subplots()
        axes.semilogx([0.61, 0.93], [0, 1])
        found = texts(figure)
        assert any(one.overlaps(other) for (_, one), (_, other) in combinations(found, 2))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.01, 10, [0.01, 0.1, 1, 10]),
        (0.1, 1, [0.1, 0.2, 0.5, 1]),
        (0.05, 12, [0.1, 0.3, 1, 3, 10]),
        (1e-9, 1e9, [1e-9, 1e-5, 1e-1, 1e3, 1e7]),
    ],
)
def test_ticks_are_few_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_axis_without_a_place_for_its_values_stays_linear() -> None:
    with pictures.new_figure() as figure:
        axes = figure.subplots()
        log_axis(axes.xaxis, [0.0, math.nan, -1.0])
        assert axes.get_xscale() == "linear"


@pytest.mark.parametrize(
    "draw",
    [
        lambda axes: pictures.draw_alignment(axes, result(alignment_curve=())),
        lambda axes: pictures.draw_costs(axes, result(c_curve=())),
        lambda axes: pictures.draw_detectors(axes, result(refined=None)),
        lambda axes: pictures.draw_detectors(axes, result(refined=RefinedResult(None, 0))),
        lambda axes: pictures.draw_history(axes, []),
        lambda axes: pictures.draw_quality(axes, moments(1)),
    ],
)
def test_picture_of_what_is_not_there_says_so(draw: Draw) -> None:
    with pictures.new_figure() as figure:
        axes = figure.subplots()
        draw(axes)
        (text,) = axes.texts
        assert text.get_text().endswith(".")
        assert not axes.lines


def test_gamma_of_another_representation_is_not_marked() -> None:
    with pictures.new_figure() as figure:
        axes = figure.subplots()
        pictures.draw_alignment(axes, result(scaling="robust"))
        assert len(axes.lines) == 1


def test_points_that_rest_on_labels_taken_back_are_left_out() -> None:
    points = moments(10)
    with pictures.new_figure() as figure:
        axes = figure.subplots()
        pictures.draw_history(axes, [*points, points[6]])
        assert list(axes.lines[0].get_xdata()) == [point.labels for point in points[:7]]


def test_rows_have_the_colours_of_inliers_and_outliers() -> None:
    from matplotlib.colors import to_hex

    with pictures.new_figure() as figure:
        axes = pictures.draw_rows(figure.subplots(), ROWS, SIDES, ASKED, truth=SIDES)
        by_name = {one.get_label(): one for one in axes.collections}
        assert to_hex(by_name["asked: inlier"].get_edgecolor()).upper() == INLIER
        assert to_hex(by_name["asked: outlier"].get_edgecolor()).upper() == OUTLIER
        assert to_hex(by_name["outside (model)"].get_facecolor()).upper() == OUTLIER


def test_svg_takes_the_colour_of_its_page_and_shares_no_id() -> None:
    drawn = [
        pictures.svg(lambda axes: pictures.draw_costs(axes, RESULTS["wide"]), name)
        for name in ("one", "other")
    ]
    ids = [re.findall(r'\bid="([^"]+)"', text) for text in drawn]
    assert ids[0]
    assert not set(ids[0]) & set(ids[1])
    for text, known in zip(drawn, ids, strict=True):
        assert len(known) == len(set(known))
        assert "currentColor" in text
        assert "#010203" not in text
        assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(known)
        assert set(re.findall(r'href="#([^"]+)"', text)) <= set(known)
        root = ElementTree.fromstring(text)
        assert root.get("viewBox")
        assert root.get("aria-hidden") == "true"
        assert "metadata" not in text


def test_pictures_are_the_same_each_time() -> None:
    def draw(axes: Any) -> Any:
        return pictures.draw_comparisons(axes, RESULTS["many rules"])

    assert pictures.svg(draw, "a") == pictures.svg(draw, "a")
    assert pictures.png(draw).startswith(b"\x89PNG")
