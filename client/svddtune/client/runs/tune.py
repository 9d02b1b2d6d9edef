"""A tuning run from data to model in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.display import display_fields
from svddtune.client.inputs.frames import read_features
from svddtune.client.inputs.validate import check_magnitude, gamma_range
from svddtune.client.oracles import KnownLabels, Oracle
from svddtune.client.result import TuningResult
from svddtune.client.runs.asking import Progress
from svddtune.client.runs.conduct import Place, RunPlan, conduct, with_budget
from svddtune.client.runs.initial import initial_labels
from svddtune.client.runs.inputs import read_inputs
from svddtune.client.runs.kept import KeptRun, RunData
from svddtune.client.types import Verdict

DEFAULT_BUDGET = 50


def tune(
    X: Any,
    oracle: object,
    *,
    budget: int | None = None,
    strategy: str = "default",
    k: int = 5,
    seed: int = 0,
    initial: object = None,
    outlier_value: object = None,
    server: str | None = None,
    tls_ca: str | os.PathLike[str] | None = None,
    workers: int = 2,
    ids: Iterable[object] | None = None,
    feature_names: Iterable[str] | None = None,
    display: Any = None,
    scaling: str = "none",
    metric: str = "kappa",
    c_cells: int = 20,
    gamma_bounds: tuple[float, float] | None = None,
    audit: int = 0,
    auto_finish: bool = False,
    overlap: int = 1,
    overlap_rule: str = "always",
    overlap_limit: int = 0,
    aggregation: str = "majority",
    repeat_every: int = 0,
    priority: int = 0,
    name: str = "",
    labeler: str = "",
    human: bool = False,
    lease_s: float = 0.0,
    storage: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    wait_for_labelers_s: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> TuningResult:
    """Return gamma and C of an SVDD on `X`, tuned by asking `oracle` about the right observations.

    Parameters
    ----------
    X : array-like or frame (N, M)
        Finite numbers. The names of a frame's columns (pandas, polars, pyarrow) stay with the
        model, which matches later frames by them.
    oracle : callable, array (N,) or mapping
        A callable takes a `Query` and returns a verdict ("inlier" or +1, "outlier" or -1,
        "unsure"), a `SkipMode` or a `Command`. An array holds +1, -1 or 0 (not known) by row; a
        mapping verdicts by observation id. See `KnownLabels`.
    outlier_value : optional
        The label that marks an outlier, all others are inliers: for labels of 0 and 1, booleans
        and words of your own.
    budget : int, optional
        Labels to use, the initial ones included; default 50, or N where that is fewer.
    initial : mapping or (inliers, outliers), optional
        Labels to start with, by observation id; or how many to draw from known labels. Default
        (2, 2) with known labels, else none.
    strategy : str
        How queries are chosen: "knowledge_gradient" (the service's default), "disagreement",
        "lama" (exactly the paper's method) or "random".
    k : int
        Neighbours that a label speaks for, the row itself included, 1 to 1000; default 5.
    seed : int
        Of all that is drawn; the same seed and answers give the same result. Default 0.
    gamma_bounds : (low, high), optional
        Range that gamma is chosen from, 0 < low < high, in inverse squared units of the scaled
        data. Default: it follows the data; (0.1, 100) for most min-max scaled ones.
    c_cells : int
        Values of C that are tried; default 20.
    metric : "kappa", "mcc", "f1" or "balanced_accuracy"
        The score that the model is chosen by; default "kappa".
    audit : int
        Observations, part of the budget, that are drawn uniformly and kept out of tuning: they give
        an unbiased score.
    auto_finish : bool
        Stop before the budget is spent once more labels gain little.
    overlap : int
        Votes sought on each observation asked about, of as many labelers; above 1 it needs a
        `server` at which others label too. Default 1.
    overlap_rule, overlap_limit, aggregation, repeat_every, priority
        As in `SessionConfig`.
    labeler : str
        Who the oracle is; default a name of its own.
    human : bool
        True where a person is behind the oracle: automated labelers are asked first. Default False.
    lease_s : float
        Seconds that a query stays with its labeler; 0 (default) for the service's default.
    server : str, optional
        HOST:PORT of a service; default an embedded one for the time of the call.
    workers : int
        Worker processes of the embedded service; default 2.
    name : str
        Of the dataset and the session, shown to people; default none.
    tls_ca : path, optional
        Certificates (PEM) to trust; the connection to `server` is then encrypted.
    ids : sequence of N, optional
        Observation ids, unique texts or whole numbers; default the row numbers. The index of a
        frame is not used: give ``ids=X.index`` if you mean it.
    feature_names : sequence of M str, optional
        Unique; default a frame's columns.
    display : sequence of N mappings, or frame with N rows, optional
        What the oracle is shown of each observation beside its features (`Query.display`).
    scaling : "none", "minmax" or "robust"
        How the columns are scaled, kept with the model; default "none".
    storage : path, optional
        Folder that keeps a run without `server`: its data, its session and every answer, synced to
        disk before the next question. It stays. Default: a folder of the run's own in the user's
        state folder (``$XDG_STATE_HOME/svddtune/runs``), removed once the result is returned.
    resume : path or str, optional
        Go on with a run that was interrupted: its folder or name; with `server` the name of the
        session. The run's own options hold; X may be None, or must be the same. A larger `budget`
        goes on beyond what was planned. The result is that of a run without interruption with the
        same answers.
    wait_for_labelers_s : float, optional
        With `overlap`: seconds to wait for votes of others once nothing is left to ask here; then
        the session is finished with the labels there are. Default: warn, and wait without end.
    on_progress : callable, optional
        Called with a `Progress` at each step.

    Raises
    ------
    InvalidInput
        Data or options are wrong; RESUME_OTHER_DATA or RESUME_OTHER_OPTIONS where they are not
        those of the run to go on with.
    NotFound, Conflict
        RUN_NOT_FOUND; RUN_IN_USE, STORAGE_HOLDS_RUN.
    BaseException
        What interrupts the run, KeyboardInterrupt and exceptions of the oracle included, comes as
        it is, with a note on where the answers are kept. `interruption` returns these answers, and
        what `resume` takes to go on.
    """
    gamma_min, gamma_max = gamma_range(gamma_bounds)
    settings = {
        "k": k,
        "strategy": strategy,
        "seed": seed,
        "metric": metric,
        "c_cells": c_cells,
        "gamma_min": gamma_min,
        "gamma_max": gamma_max,
        "audit": audit,
        "auto_finish": auto_finish,
        "overlap": overlap,
        "overlap_rule": overlap_rule,
        "overlap_limit": overlap_limit,
        "aggregation": aggregation,
        "repeat_every": repeat_every,
        "priority": priority,
        "lease_s": lease_s,
    }
    if resume is not None and server is None:
        others = {"budget": budget, "scaling": scaling, "name": name, "labeler": labeler}
        defaults = {name: one.default for name, one in signature(tune).parameters.items()}
        defaults |= {"gamma_min": 0.0, "gamma_max": 0.0}
        given = {
            option: value
            for option, value in {**settings, **others}.items()
            if value != defaults[option]
        }
        return _resumed(
            resume,
            X,
            oracle,
            given,
            outlier_value=outlier_value,
            workers=workers,
            on_progress=on_progress,
        )
    inputs = read_inputs(
        X, oracle, ids=ids, feature_names=feature_names, outlier_value=outlier_value
    )
    rows, names = inputs.features.rows, inputs.features.names
    check_magnitude(rows, names or ())
    observation_ids, ask = inputs.ids, inputs.oracle
    start_labels = initial_labels(initial, ask, observation_ids, seed=seed)
    limit = _checked_budget(budget, len(rows), len(start_labels))
    if overlap > 1 and server is None:
        raise InvalidInput(
            f"overlap = {overlap} needs as many labelers, and a service of this run's own has one: "
            "name a server at which the others label",
            metadata={"field": "overlap", "value": str(overlap)},
        )
    _note_given(ask, start_labels, observation_ids)
    plan = RunPlan(
        data=RunData(
            X=rows,
            ids=observation_ids if ids is not None else None,
            feature_names=names,
            display=display_fields(display, len(rows)),
        ),
        title=name,
        scaling=scaling,
        initial=start_labels,
        config={**settings, "k": min(k, len(rows)) if k > 0 else k, "budget": limit},
        labeler=labeler,
        kind="human" if human else "automated",
    )
    if server is not None:
        place = Place(server=server, tls_ca=tls_ca, session=str(resume or ""))
    else:
        kept = KeptRun.create(plan.data, plan.options(), title=name, storage=storage)
        plan = RunPlan.of(plan.data, kept.options)
        place = Place(kept=kept, workers=workers)
    return conduct(
        plan, ask, place, on_progress=on_progress, wait_for_labelers_s=wait_for_labelers_s
    )


def _resumed(
    which: str | os.PathLike[str],
    X: Any,
    oracle: object,
    given: Mapping[str, Any],
    *,
    outlier_value: object,
    workers: int,
    on_progress: Callable[[Progress], None] | None,
) -> TuningResult:
    """Resume a run from its folder; `given` are the options that the caller repeats."""
    kept = KeptRun.open(which)
    try:
        plan = RunPlan.of(kept.data(), kept.options)
        _check_same_data(plan, X)
        _check_same_options(plan, given)
        ids = plan.data.observation_ids
        if callable(oracle):
            ask: Oracle = oracle
        else:
            ask = KnownLabels(oracle, outlier_value=outlier_value)
        if "budget" in given:
            budget = _checked_budget(given["budget"], len(ids), len(plan.initial))
            plan = with_budget(plan, budget)
        _note_given(ask, plan.initial, ids)
    except BaseException:
        kept.close()
        raise
    place = Place(kept=kept, workers=workers)
    return conduct(plan, ask, place, resumed=True, on_progress=on_progress)


def _note_given(ask: Oracle, labels: Mapping[str, Verdict], ids: Sequence[str]) -> None:
    """Tell an oracle of known labels which of them are initial labels."""
    if not isinstance(ask, KnownLabels):
        return
    known = ask.verdicts(ids)
    row_of = {observation_id: row for row, observation_id in enumerate(ids)}
    for observation_id in labels:
        if row_of.get(observation_id) in known:
            ask.given(observation_id, row_of[observation_id])


def _check_same_data(plan: RunPlan, X: Any) -> None:
    if X is None:
        return
    rows = read_features(X).rows
    if not np.array_equal(rows, plan.data.X):
        raise InvalidInput(
            f"X is not what the run is about: {rows.shape[0]} x {rows.shape[1]} numbers against "
            f"{plan.data.X.shape[0]} x {plan.data.X.shape[1]}, or other values; give the same, or "
            "None to take those of the run",
            reason="RESUME_OTHER_DATA",
            metadata={"field": "X", "value": str(rows.shape)},
        )


def _check_same_options(plan: RunPlan, given: Mapping[str, Any]) -> None:
    """Refuse options that differ from the run's own, rather than ignore them."""
    known = {**plan.config, "scaling": plan.scaling, "name": plan.title, "labeler": plan.labeler}
    for option, value in given.items():
        if option in known and option != "budget" and known[option] != value:
            raise InvalidInput(
                f"{option} = {value!r} is not that of the run ({known[option]!r}): leave it out "
                "to go on, or begin another run",
                reason="RESUME_OTHER_OPTIONS",
                metadata={"field": option, "value": str(value)},
            )


def _checked_budget(budget: int | None, n: int, initial: int) -> int:
    limit = min(DEFAULT_BUDGET, n) if budget is None else budget
    if limit > n:
        raise InvalidInput(
            f"A budget of {limit} labels is more than the {n} rows there are",
            reason="BUDGET_TOO_LARGE",
            metadata={"budget": str(limit), "observations": str(n)},
        )
    if limit < max(initial, 1):
        raise InvalidInput(
            f"A budget of {limit} labels is less than the {initial} initial ones",
            reason="BUDGET_TOO_SMALL",
            metadata={"budget": str(limit), "labels": str(initial)},
        )
    return limit
