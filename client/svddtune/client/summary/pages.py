"""What a notebook shows of each kind of value: compact tables with small pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

from svddtune.client.drift import Drift
from svddtune.client.labelers import Agreement, LabelerReport, WithdrawalEffect
from svddtune.client.model import SvddModel
from svddtune.client.outside import OutsideRow
from svddtune.client.phrases import compared, estimated, expected, figure, gamma_of
from svddtune.client.result import Result, TuningResult
from svddtune.client.summary.lines import scored
from svddtune.client.summary.markup import (
    INLIER,
    OUTLIER,
    Markup,
    Numeral,
    block,
    curve,
    escaped,
    facts,
    interval_bar,
    listed,
    sentences,
    stack_bar,
)
from svddtune.client.types import Dataset, DetectorComparison, LabelCounts, Quality, Query, Session

_MOST_ROWS = 8

Facts = list[tuple[str, object]]


def html_of(value: Any) -> str | None:
    """Return the HTML of a value; None for a kind whose repr says it all."""
    return _page(value)


@singledispatch
def _page(value: Any) -> str | None:
    return None


@_page.register
def _(value: Session) -> str:
    rows: Facts = [
        ("session", value.name),
        ("state", _state(value)),
        ("labels", _labels(value.counts, value.config.budget)),
    ]
    if value.gamma:
        rows.append(("gamma", gamma_of(value.gamma, value.scaling)))
    if (live := value.live) is not None:
        rows += [("C", figure(live.C)), ("quality", _score(live.quality))]
        if live.outlier_share is not None:
            rows.append(("share of outliers", estimated(live.outlier_share)))
        rows.append(("advice", live.advice))
    if value.detectors is not None:
        rows.append(("detectors", compared(value.detectors)))
    return facts(value.display_name or "Session", rows)


@_page.register
def _(value: Dataset) -> str:
    names = ", ".join(value.feature_names[:_MOST_ROWS])
    more = len(value.feature_names) - _MOST_ROWS
    return facts(
        value.display_name or "Dataset",
        [
            ("dataset", value.name),
            ("rows", str(value.observation_count)),
            ("columns", str(value.feature_count)),
            ("names", f"{names} and {more} more" if more > 0 else names),
            ("scaling", value.scaling),
            ("equal rows", str(value.duplicate_row_count or "")),
            ("constant columns", ", ".join(map(str, value.constant_columns))),
        ],
    )


@_page.register
def _(value: Query) -> str:
    rows: Facts = [(key, text) for key, text in list(value.display.items())[:_MOST_ROWS]]
    if value.why:
        rows.append(("why", value.why))
    typical = "typical inlier" if value.reference_inliers else "typical row"
    return block(
        facts(f"Query {value.number}: observation {value.observation_id}", rows),
        listed(
            "",
            ("feature", "value", typical, "deviation"),
            (
                (
                    one.name,
                    Numeral(figure(one.value, 5)),
                    Numeral(figure(one.typical, 5)),
                    Numeral(f"{one.deviation:+.1f}"),
                )
                for one in value.unusual
            ),
        ),
    )


@_page.register
def _(value: Result) -> str:
    return block(*_result(value, "Result"))


@_page.register
def _(value: TuningResult) -> str:
    title = value.dataset.display_name or "Result"
    return block(*_result(value.result, title), _outside(value.outside))


@_page.register
def _(value: SvddModel) -> str:
    names = ", ".join(value.feature_names[:_MOST_ROWS])
    more = len(value.feature_names) - _MOST_ROWS
    return facts(
        "SVDD model",
        [
            ("gamma", gamma_of(value.gamma, value.scaling)),
            ("C", figure(value.C)),
            ("nu", figure(value.nu)),
            ("R2", figure(value.R2)),
            ("support vectors", f"{len(value.alphas)} of {value.observation_count} rows"),
            ("features", f"{names} and {more} more" if more > 0 else names),
            ("columns", str(value.feature_count)),
            ("refined detector", "yes" if value.refined is not None else "no"),
            ("result", value.result),
        ],
    )


@_page.register
def _(value: Drift) -> str:
    low, high = value.outside_interval
    outside = f"{value.outside_share:.1%} [{low:.1%}, {high:.1%}]"
    if value.expected_share is not None:
        outside += f", expected {value.expected_share:.1%}"
    far = "" if value.far_count is None else str(value.far_count)
    return block(
        facts(value.advice, [("rows outside", outside), ("far from all support vectors", far)]),
        sentences(value.reasons),
        listed(
            "Shifts of features",
            ("feature", "shift", "", "typical", "now"),
            (
                (
                    one.feature,
                    Numeral(figure(one.shift, 2)),
                    stack_bar(
                        [(one.shift, OUTLIER if one.shifted else INLIER)],
                        1.0,
                        f"shift {one.shift:.2f} of 1" + (", an alarm" if one.shifted else ""),
                    ),
                    Numeral(figure(one.typical)),
                    Numeral(figure(one.new_typical)),
                )
                for one in value.features[:_MOST_ROWS]
            ),
        ),
    )


@_page.register
def _(value: LabelerReport) -> str:
    return facts(
        value.labeler + (" (withdrawn)" if value.withdrawn else ""),
        [
            ("labels", _labels(value.votes, value.votes.total)),
            ("asked, unasked", f"{value.asked}, {value.unasked}"),
            ("unused, retracted", f"{value.unused}, {value.retracted}"),
            ("agrees with others", _share(value.agreement, value.compared, "observations")),
            ("agrees with itself", _share(value.self_consistency, value.repeats, "repeats")),
            (
                "right on control items",
                f"{value.controls_right} of {value.controls}" if value.controls else "",
            ),
            ("trust", _known(value.trust)),
            ("seconds for an answer", _known(value.median_answer_seconds, " (median)")),
        ],
    )


@_page.register
def _(value: Agreement) -> str:
    return facts(
        f"Agreement on {value.observations} observations",
        [
            ("equal pairs of votes", _known(value.observed)),
            ("Cohen's kappa", _known(value.cohen_kappa)),
            (
                "Fleiss' kappa",
                _known(value.fleiss_kappa, f" on {value.fleiss_observations} observations"),
            ),
            ("Krippendorff's alpha", _known(value.krippendorff_alpha)),
        ],
    )


@_page.register
def _(value: WithdrawalEffect) -> str:
    then, now = value.counts_before, value.counts_after
    rows = [
        ("labels", str(then.total), str(now.total)),
        ("inlier", str(then.inlier), str(now.inlier)),
        ("outlier", str(then.outlier), str(now.outlier)),
    ]
    if value.live_before is not None and value.live_after is not None:
        before, after = value.live_before, value.live_after
        rows += [
            ("gamma", gamma_of(before.gamma, before.scaling), gamma_of(after.gamma, after.scaling)),
            ("C", figure(before.C), figure(after.C)),
            ("quality", scored(before.quality), scored(after.quality)),
        ]
    title = (
        f"{value.votes} votes: {value.labels_lost} labels lost, {value.labels_changed} changed, "
        f"{value.labels_gained} gained, {value.queries_reopened} queries reopened"
    )
    return listed(title, ("", "before", "after"), rows)


@_page.register
def _(value: DetectorComparison) -> str:
    return facts(
        f"Detectors on {value.labels} held-out labels",
        [
            ("tuned SVDD", _score(value.svdd)),
            ("refined detector", _score(value.refined)),
            ("better", value.better or "the labels do not tell"),
        ],
    )


def _result(result: Result, title: str) -> list[Markup]:
    low, high = result.C_bounds
    gammas = [point.gamma for point in result.alignment_curve]
    costs = [cell.C for cell in result.c_curve]
    rows: Facts = [
        ("result", result.name),
        (
            "gamma",
            _beside(
                gamma_of(result.gamma, result.scaling),
                curve(
                    gammas,
                    [point.alignment for point in result.alignment_curve],
                    result.gamma,
                    "Alignment over gamma; the dashed line is the chosen gamma",
                ),
            ),
        ),
        (
            "C",
            _beside(
                f"{figure(result.C)} in [{figure(low)}, {figure(high)}]",
                curve(
                    costs,
                    [cell.score for cell in result.c_curve],
                    result.C,
                    "Score over C; the dashed line is the chosen C",
                ),
            ),
        ),
        ("nu", figure(result.nu)),
        ("quality", _score(result.quality)),
        ("labels", _labels(result.quality.counts, result.quality.counts.total)),
    ]
    if result.audit is not None:
        rows.append(("quality by audit", _score(result.audit)))
    rows.append(("rows outside", str(result.outside_count)))
    if result.outlier_share is not None:
        rows.append(("share of outliers", estimated(result.outlier_share)))
    if result.expected_gain is not None:
        rows.append(("10 more labels", f"kappa rises by {expected(result.expected_gain)}"))
    if result.refined is not None and result.refined.comparison is not None:
        rows.append(("detectors", compared(result.refined.comparison)))
    return [
        facts(title, rows),
        listed(
            "Rules without labels, on the same labels",
            ("rule", "gamma", "score", "outside"),
            (
                (
                    one.name,
                    gamma_of(one.gamma, one.scaling),
                    _score_in_column(one.score, 3),
                    one.outside_count,
                )
                for one in result.comparisons
            ),
        ),
        sentences(result.notes),
    ]


def _outside(rows: tuple[OutsideRow, ...]) -> Markup:
    title = f"The {_MOST_ROWS} farthest of {len(rows)} rows outside"
    if len(rows) <= _MOST_ROWS:
        title = "Rows outside, the farthest first"
    return listed(
        title,
        ("row", "observation", "score", "label"),
        (
            (
                one.row,
                one.observation_id,
                _score_in_column(one.score, 4),
                one.label.value if one.label else "",
            )
            for one in rows[:_MOST_ROWS]
        ),
    )


def _state(session: Session) -> str:
    if session.failure_message:
        return f"{session.state.value}: {session.failure_message}"
    return f"{session.state.value} ({session.stall})" if session.stall else session.state.value


def _labels(counts: LabelCounts, total: int) -> Markup:
    text = f"{counts.inlier} inlier, {counts.outlier} outlier"
    text += f", {counts.unsure} unsure" if counts.unsure else ""
    if total > counts.total:
        text = f"{counts.total} of {total}: {text}"
    bar = stack_bar([(counts.inlier, INLIER), (counts.outlier, OUTLIER)], total, text)
    return _beside(text, bar)


def _score(quality: Quality) -> Markup:
    text = f"{scored(quality)} ({_KINDS.get(quality.kind, quality.kind)})"
    if quality.interval is None or quality.value != quality.value:
        return escaped(text)
    interval = quality.interval
    return _beside(text, interval_bar(quality.value, interval.low, interval.high, text))


_KINDS = {
    "queried": "on the observations asked about",
    "audit": "by audit, for all rows",
    "held_out": "on held-out labels",
}


def _score_in_column(score: float, decimals: int) -> Numeral:
    return Numeral(f"{score:.{decimals}f}" if math.isfinite(score) else "-")


def _share(value: float, count: int, noun: str) -> str:
    """Return a share and of how many; empty, so that it is left out, where it is not known."""
    return f"{value:.0%} of {count} {noun}" if count and math.isfinite(value) else ""


def _known(value: float, what: str = "") -> str:
    """Return a figure; empty, so that it is left out, where it is not known."""
    return figure(value, 3) + what if math.isfinite(value) else ""


def _beside(*parts: object) -> Markup:
    return Markup(" ".join(_shown(parts)))


def _shown(parts: Iterable[object]) -> Iterable[str]:
    return (escaped(part) for part in parts if part != "")
