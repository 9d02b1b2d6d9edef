"""A tuning run from data to model in one call."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from importlib import metadata
from typing import Any

from svddtune.client.asking import Progress, Run
from svddtune.client.client import TuningClient
from svddtune.client.embedded import EmbeddedStack
from svddtune.client.errors import InvalidInput
from svddtune.client.initial import initial_labels
from svddtune.client.inputs import read_inputs
from svddtune.client.oracles import KnownLabels
from svddtune.client.outside import outside_rows
from svddtune.client.result import TuningResult

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
    on_progress: Callable[[Progress], None] | None = None,
) -> TuningResult:
    """Tune gamma and C of an SVDD on `X` by asking `oracle` about the right observations.

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
    audit : int
        Observations, part of the budget, that are drawn uniformly and kept out of tuning: they give
        an unbiased score.
    auto_finish : bool
        Stop before the budget is spent once more labels gain little.
    overlap : int
        Votes sought on each observation asked about, of as many labelers; above 1 it needs a
        `server` at which others label too. `overlap_rule`, `overlap_limit`, `aggregation`,
        `repeat_every` and `priority` are those of `SessionConfig`.
    server : str, optional
        HOST:PORT of a service; default an embedded one for the time of the call.
    tls_ca : path, optional
        Certificates (PEM) to trust; the connection to `server` is then encrypted.
    ids : sequence of N, optional
        Observation ids, unique texts or whole numbers; default the row numbers. The index of a
        frame is not used: give ``ids=X.index`` if you mean it.
    """
    inputs = read_inputs(
        X, oracle, ids=ids, feature_names=feature_names, outlier_value=outlier_value
    )
    rows, names = inputs.features.rows, inputs.features.names
    observation_ids, ask = inputs.ids, inputs.oracle
    start_labels = initial_labels(initial, ask, observation_ids, seed=seed)
    limit = _checked_budget(budget, len(rows), len(start_labels))
    if overlap > 1 and server is None:
        raise InvalidInput(
            f"overlap = {overlap} needs as many labelers, and a service of this run's own has one: "
            "name a server at which the others label",
            metadata={"field": "overlap", "value": str(overlap)},
        )
    if isinstance(ask, KnownLabels):
        known = ask.verdicts(observation_ids)
        row_of = {observation_id: row for row, observation_id in enumerate(observation_ids)}
        for observation_id in start_labels:
            if row_of.get(observation_id) in known:
                ask.given(observation_id, row_of[observation_id])
    run = Run(ask, limit, len(start_labels), on_progress or (lambda _: None))
    with contextlib.ExitStack() as stack:
        run.enter("starting")
        embedded = stack.enter_context(EmbeddedStack(workers)) if server is None else None
        address = server or (embedded and embedded.address) or ""
        client = stack.enter_context(
            TuningClient(address, tls_ca=tls_ca if server is not None else None)
        )
        run.enter("uploading")
        dataset = client.upload_dataset(
            rows,
            name=name,
            observation_ids=observation_ids if ids is not None else None,
            feature_names=names,
            display=display,
            scaling=scaling,
        )
        run.enter("preparing")
        session = client.create_session(
            dataset,
            initial_labels=start_labels,
            name=name,
            k=min(k, len(rows)) if k > 0 else k,
            budget=limit,
            strategy=strategy,
            seed=seed,
            metric=metric,
            c_cells=c_cells,
            audit=audit,
            auto_finish=auto_finish,
            overlap=overlap,
            overlap_rule=overlap_rule,
            overlap_limit=overlap_limit,
            aggregation=aggregation,
            repeat_every=repeat_every,
            priority=priority,
            lease_s=lease_s,
        )
        kind = "human" if human else "automated"
        run.label(client, session, labeler, kind)
        run.enter("estimating")
        session = client.wait_until_completed(session)
        result = client.result(session)
        model = client.model(session)
        run.enter("done")
    said = {asked.observation_id: asked.verdict for asked in run.asked if asked.verdict}
    versions = {"svddtune": metadata.version("svddtune"), **(embedded.versions if embedded else {})}
    return TuningResult(
        result=result,
        model=model,
        dataset=dataset,
        session=session,
        initial=start_labels,
        asked=tuple(run.asked),
        timings=run.timings(),
        versions={**versions, **result.manifest.versions},
        outside=outside_rows(model, rows, observation_ids, {**start_labels, **said}),
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
