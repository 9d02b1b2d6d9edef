"""The repr of each kind of value: one line of at most 120 columns, without arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from functools import singledispatch
from typing import Any

import numpy as np

from svddtune.client.drift import Drift
from svddtune.client.labelers import Agreement, LabelerReport, WithdrawalEffect
from svddtune.client.model import SvddModel
from svddtune.client.phrases import figure, gamma_of, many
from svddtune.client.result import Result, TuningResult
from svddtune.client.types import (
    Dataset,
    Interval,
    LabelEvent,
    LiveEvidence,
    Quality,
    Query,
    RowScores,
    ServerInfo,
    Session,
)
from svddtune.text import visible

LONGEST = 120
_LONGEST_TEXT = 40
_LONGEST_TITLE = 20
_FEW = 4


def line_of(value: Any) -> str:
    """Return a value in one line: what it is and what matters most about it."""
    text = visible(_line(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]}…{text[-1]}"


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with an ellipsis where some are left out."""
    return text if len(text) <= most else text[: most - 1] + "…"


def named(text: str) -> str:
    """Return a name that somebody chose in quotes, safe to show and not too long."""
    return repr(cut(text, _LONGEST_TEXT))


def scored(quality: Quality) -> str:
    """Return a score with its interval, for example "kappa 0.71 [0.52, 0.85]"."""
    return f"{quality.metric} {figure(quality.value, 3)}{_range(quality.interval)}"


@singledispatch
def _line(value: Any) -> str:
    """Return the fields that differ from their defaults."""
    parts = []
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if field.repr and not _is_default(field, item):
            parts.append(f"{field.name}={_item(item)}")
    return f"{type(value).__name__}({', '.join(parts)})"


@_line.register
def _(value: Session) -> str:
    title = _title(value.display_name)
    parts = [value.state.value, f"{value.counts.total} of {value.config.budget} labels"]
    if value.gamma:
        parts.append(f"gamma {gamma_of(value.gamma, value.scaling)}")
    if value.live is not None:
        parts.append(scored(value.live.quality))
    return f"<Session{title} {value.name}: {', '.join(parts)}>"


@_line.register
def _(value: Dataset) -> str:
    title = _title(value.display_name)
    size = f"{value.observation_count} x {value.feature_count}"
    return f"<Dataset{title} {value.name}: {size}, scaling {value.scaling}>"


@_line.register
def _(value: Query) -> str:
    unusual = ", ".join(named(one.name) for one in value.unusual[:3])
    more = f", unusual: {unusual}" if unusual else ""
    return f"<Query {value.number} about {named(value.observation_id)}, row {value.row}{more}>"


@_line.register
def _(value: LabelEvent) -> str:
    verdict = f" {value.verdict.value}" if value.verdict is not None else ""
    about = f" {named(value.observation_id)}" if value.observation_id else ""
    return f"<LabelEvent {value.kind}{about}{verdict} by {named(value.labeler)}>"


@_line.register
def _(value: Quality) -> str:
    return f"<Quality {scored(value)} on {value.counts.total} labels, {value.kind}>"


@_line.register
def _(value: LiveEvidence) -> str:
    gamma = gamma_of(value.gamma, value.scaling)
    return (
        f"<LiveEvidence after {value.labels} labels: gamma {gamma}, C {figure(value.C)}, "
        f"{scored(value.quality)}>"
    )


@_line.register
def _(value: Result) -> str:
    return f"<Result {value.name}: {_choice(value)}>"


@_line.register
def _(value: TuningResult) -> str:
    return f"<TuningResult {_choice(value.result)}, {len(value.asked)} asked>"


@_line.register
def _(value: SvddModel) -> str:
    refined = ", with a refined detector" if value.refined is not None else ""
    return (
        f"<SvddModel gamma {gamma_of(value.gamma, value.scaling)}, C {figure(value.C)}, "
        f"{len(value.alphas)} support vectors, {value.feature_count} features{refined}>"
    )


@_line.register
def _(value: Drift) -> str:
    found = "drift found" if value.drifted else "no drift found"
    return f"<Drift {found} in {value.rows} rows, {value.outside_share:.1%} outside>"


@_line.register
def _(value: LabelerReport) -> str:
    parts = [f"{value.votes.total} labels", f"agreement {figure(value.agreement, 3)}"]
    parts += ["withdrawn"] if value.withdrawn else []
    return f"<LabelerReport {named(value.labeler)}: {', '.join(parts)}>"


@_line.register
def _(value: Agreement) -> str:
    return (
        f"<Agreement on {value.observations} observations: {figure(value.observed, 3)} of pairs, "
        f"Krippendorff's alpha {figure(value.krippendorff_alpha, 3)}>"
    )


@_line.register
def _(value: WithdrawalEffect) -> str:
    return (
        f"<WithdrawalEffect on {value.votes} votes: {value.labels_lost} labels lost, "
        f"{value.labels_changed} changed, {value.labels_gained} gained>"
    )


@_line.register
def _(value: RowScores) -> str:
    outside = int(np.count_nonzero(value.labels < 0))
    return f"<RowScores of {len(value.labels)} rows by {value.model}: {outside} outside>"


@_line.register
def _(value: ServerInfo) -> str:
    state = "ready" if value.ready else f"not ready: {cut(value.message, 60)}"
    workers = "" if value.workers is None else f", {many(value.workers, 'worker')}"
    return f"<ServerInfo svddtune {value.version}, {state}{workers}>"


def _title(name: str) -> str:
    return f" {cut(name, _LONGEST_TITLE)!r}" if name else ""


def _choice(result: Result) -> str:
    return (
        f"gamma {gamma_of(result.gamma, result.scaling)}, C {figure(result.C)}, "
        f"{scored(result.quality)}, {result.outside_count} outside"
    )


def _range(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f" [{figure(interval.low, 2)}, {figure(interval.high, 2)}]"


def _is_default(field: dataclasses.Field[Any], item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return False
    if field.default is not dataclasses.MISSING:
        return bool(item is field.default or item == field.default)
    if field.default_factory is not dataclasses.MISSING:
        return bool(item == field.default_factory())
    return False


def _item(item: Any) -> str:
    """Return one field's value; what is long only by its kind and size."""
    if isinstance(item, Enum):
        return repr(item.value)
    if isinstance(item, str):
        return named(item)
    if isinstance(item, float | np.floating):
        return figure(float(item))
    if isinstance(item, np.ndarray):
        return f"array{item.shape}"
    if isinstance(item, datetime):
        return item.isoformat(timespec="seconds")
    if isinstance(item, bytes):
        return f"<{len(item)} bytes>"
    if isinstance(item, Mapping) or (isinstance(item, list | tuple) and len(item) > _FEW):
        return f"<{len(item)} items>"
    if isinstance(item, list | tuple):
        inside = ", ".join(map(_item, item))
        return f"({inside}{',' if len(item) == 1 else ''})"
    return repr(item)
