"""A tuning run from data to model in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Unpack

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.display import display_fields
from svddtune.client.inputs.frames import read_features
from svddtune.client.inputs.ids import id_text
from svddtune.client.inputs.label_values import labels_from
from svddtune.client.inputs.settings import check_visible_features, read_settings
from svddtune.client.inputs.validate import check_magnitude
from svddtune.client.oracles import KnownLabels, Oracle, SessionOracle
from svddtune.client.result import Result, TuningResult
from svddtune.client.runs.asking import Progress
from svddtune.client.runs.conduct import Place, RunPlan, conduct
from svddtune.client.runs.initial import initial_labels
from svddtune.client.runs.inputs import read_inputs
from svddtune.client.runs.kept import KeptRun, RunData
from svddtune.client.types import Label, Session, Verdict
from svddtune.client.wire.calls import name_of
from svddtune.config import Settings


def tune(
    X: Any,
    oracle: object,
    *,
    initial: object = None,
    from_session: str | Session | Result | None = None,
    controls: Mapping[str, object] | Iterable[Label] = (),
    outlier_value: object = None,
    server: str | None = None,
    tls_ca: str | os.PathLike[str] | None = None,
    workers: int = 2,
    ids: Iterable[object] | None = None,
    feature_names: Iterable[str] | None = None,
    display: Any = None,
    scaling: str = "auto",
    name: str = "",
    labeler: str = "",
    human: bool = False,
    storage: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    wait_for_labelers_s: float | None = None,
    retention_s: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[Settings],
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
    initial : mapping or (inliers, outliers), optional
        Labels to start with, by observation id; or how many to draw from known labels. Default
        (2, 2) with known labels and without `from_session`, else none.
    from_session : Session, Result or str, optional
        A session at `server`, or its resource name, whose labels the run starts with, as in
        `TuningClient.create_session`; the budget counts them. Default none.
    controls : mapping or iterable of Label
        Control items of the session at `server`, as in `TuningClient.create_session`: observations
        whose labels are known, which the oracle is asked about among the others.
        `TuningClient.list_labelers` tells how many it got right. Default none.
    labeler : str
        Who the oracle is; default a name of its own.
    human : bool
        True where a person is behind the oracle: automated labelers are asked first. Default False.
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
    scaling : str
        How the columns are represented, kept with the model. "auto" (default): the labels
        choose among several representations. Or one: "none", "minmax", "robust", "standard",
        "ranks", "normal", "asinh" or "whitened"; ``dataset.proto`` defines them.
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
    retention_s : float, optional
        Seconds after its end for which `server` keeps the session, as in
        `TuningClient.create_session`. Default as the service is set.
    on_progress : callable, optional
        Called with a `Progress` at each step.
    **settings
        What decides the queries and the result: fields of `SessionConfig`, such as ``budget=30``,
        ``strategy="lama"`` (the paper's method) or ``gamma_bounds=(0.1, 100)`` (wide
        enough for most min-max scaled data). ``help(SessionConfig)`` describes all of them. None
        stands for the default. An `overlap` above 1 needs a `server` at which others label too.

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
    _check_new_session("from_session", from_session is not None, server, resume)
    checks = tuple(labels_from(controls))
    _check_new_session("controls", bool(checks), server, resume)
    if resume is not None and server is None:
        options = {"scaling": scaling, "name": name, "labeler": labeler}
        return _resumed(
            resume,
            X,
            oracle,
            settings,
            # (A default is taken for an option that was not given.)
            {key: value for key, value in options.items() if value not in ("", "auto")},
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
    config = read_settings(settings, observation_count=len(rows))
    check_visible_features(config, names or (), rows.shape[1])
    if initial is None and from_session is not None:
        initial = {}
    start_labels = initial_labels(
        initial,
        ask,
        observation_ids,
        seed=config.seed,
        without={id_text(item.observation_id) for item in checks},
    )
    _check_budget(config.budget, len(start_labels))
    if resume is not None and settings.get("budget") is None:
        config = replace(config, budget=0)
    if config.overlap > 1 and server is None:
        raise InvalidInput(
            f"overlap = {config.overlap} needs at least {config.overlap} labelers, but a service "
            f"that tune starts itself has one: name a server where others label too",
            metadata={"field": "overlap", "value": str(config.overlap)},
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
        config=config,
        labeler=labeler or _own_name(ask, server),
        kind="human" if human else "automated",
    )
    if server is not None:
        place = Place(
            server=server,
            tls_ca=tls_ca,
            session=str(resume or ""),
            from_session="" if from_session is None else name_of(from_session),
            controls=checks,
            retention_s=retention_s,
        )
    else:
        kept = KeptRun.create(plan.data, plan.options(), title=name, storage=storage)
        plan = RunPlan.of(plan.data, kept.options)
        place = Place(kept=kept, workers=workers)
    return conduct(
        plan, ask, place, on_progress=on_progress, wait_for_labelers_s=wait_for_labelers_s
    )


def _own_name(ask: object, server: str | None) -> str:
    """Return the name of an oracle that holds the dialogue, where no service may know a better."""
    return ask.labeler if server is None and isinstance(ask, SessionOracle) else ""


def _resumed(
    which: str | os.PathLike[str],
    X: Any,
    oracle: object,
    settings: Settings,
    options: Mapping[str, str],
    *,
    outlier_value: object,
    workers: int,
    on_progress: Callable[[Progress], None] | None,
) -> TuningResult:
    """Resume a run from its folder; `settings` and `options` are those that the caller repeats."""
    kept = KeptRun.open(which)
    try:
        plan = RunPlan.of(kept.data(), kept.options)
        _check_same_data(plan, X)
        ids = plan.data.observation_ids
        config = read_settings(settings, plan.config, len(ids))
        _check_same(asdict(plan.config), {name: getattr(config, name) for name in settings})
        known = {"scaling": plan.scaling, "name": plan.title, "labeler": plan.labeler}
        _check_same(known, options)
        if callable(oracle):
            ask: Oracle = oracle
        else:
            ask = KnownLabels(oracle, outlier_value=outlier_value)
        _check_budget(config.budget, len(plan.initial))
        plan = replace(plan, config=config)
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
            f"X differs from the data of the run: its shape is {rows.shape[0]} x "
            f"{rows.shape[1]}, the run has {plan.data.X.shape[0]} x {plan.data.X.shape[1]}, or "
            f"values differ; give the same X, or None to use the run's own",
            reason="RESUME_OTHER_DATA",
            metadata={"field": "X", "value": str(rows.shape)},
        )


def _check_same(known: Mapping[str, object], given: Mapping[str, object]) -> None:
    """Refuse options that differ from the run's own, rather than ignore them."""
    for option, value in given.items():
        if option != "budget" and known[option] != value:
            raise InvalidInput(
                f"{option} = {value!r} differs from that of the run ({known[option]!r}): leave "
                f"it out to continue, or begin another run",
                reason="RESUME_OTHER_OPTIONS",
                metadata={"field": option, "value": str(value)},
            )


# What is about a new session of a running service -> what to do where tune starts one of its own.
_AT_SERVER = {
    "from_session": "from_session names a session of a running service, but tune starts one of "
    "its own: name its server, or give the labels as `initial`",
    "controls": "what control items show is read from a running service, but tune starts one of "
    "its own, which ends with the run: name a server",
}


def _check_new_session(field: str, given: bool, server: str | None, resume: object) -> None:
    if not given:
        return
    if server is None:
        raise InvalidInput(_AT_SERVER[field], metadata={"field": field})
    if resume is not None:
        raise InvalidInput(
            f"resume goes on with a session, and {field} is for one that starts: give one of them",
            metadata={"field": field},
        )


def _check_budget(budget: int, initial: int) -> None:
    if budget < initial:
        raise InvalidInput(
            f"The budget of {budget} labels is less than the {initial} initial labels",
            reason="BUDGET_TOO_SMALL",
            metadata={"budget": str(budget), "labels": str(initial)},
        )
