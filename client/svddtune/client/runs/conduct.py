"""A run from data to model: service, upload, session, labels, result."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from svddtune.client.client import TuningClient
from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.settings import read_settings
from svddtune.client.json_values import jsonable
from svddtune.client.oracles import KnownLabels, Oracle, SessionOracle
from svddtune.client.outside import outside_rows
from svddtune.client.result import TuningResult
from svddtune.client.runs.asking import Progress, Run
from svddtune.client.runs.embedded import EmbeddedStack
from svddtune.client.runs.initial import taken_labels
from svddtune.client.runs.interrupted import Interruption, attach
from svddtune.client.runs.kept import KeptRun, RunData
from svddtune.client.types import Dataset, Label, Session, SessionState, Verdict
from svddtune.config import SessionConfig
from svddtune.version import __version__

# Seconds for which the child of a killed launcher may still be stopping its processes.
_OLD_CHILD_S = 30.0


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that determines a run's queries and result, and its labeler.

    `config` has no budget if the run goes on with a session that has one already.
    """

    data: RunData
    title: str
    scaling: str
    initial: Mapping[str, Verdict]
    config: SessionConfig
    labeler: str
    kind: str

    def options(self) -> dict[str, Any]:
        """Return everything but the data as JSON values."""
        return {
            "title": self.title,
            "scaling": self.scaling,
            "initial": {key: verdict.value for key, verdict in self.initial.items()},
            "config": jsonable(self.config),
            # A labeler of the same name goes on later.
            "labeler": self.labeler or f"client-{uuid.uuid4().hex[:12]}",
            "kind": self.kind,
        }

    @classmethod
    def of(cls, data: RunData, options: Mapping[str, Any]) -> RunPlan:
        """Inverse of `options`."""
        initial = {key: Verdict.of(value) for key, value in options["initial"].items()}
        config = read_settings(options["config"])
        return cls(**{**options, "data": data, "initial": initial, "config": config})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run takes place: at `server`, or with a service of its own in the folder `kept`.

    `session` is the one to go on with; at `server` by name, in a folder the only one there is. A
    new one at `server` starts with the labels of `from_session`, the name of a session or result;
    with none if that is empty. It has the control items `controls`, and is kept for `retention_s`
    after its end.
    """

    kept: KeptRun | None = None
    server: str = ""
    tls_ca: str | os.PathLike[str] | None = None
    workers: int = 2
    session: str = ""
    from_session: str = ""
    controls: Sequence[Label] = ()
    retention_s: float | None = None


def conduct(
    plan: RunPlan,
    oracle: Oracle,
    place: Place,
    *,
    resumed: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    wait_for_labelers_s: float | None = None,
) -> TuningResult:
    """Carry out a run, new or resumed, to its result.

    A folder that the caller did not name is removed at the end. An exception that ends the run
    early carries an `Interruption`; once something was answered the folder stays.
    """
    kept = place.kept
    run = Run(
        oracle,
        plan.config.budget,
        on_progress or (lambda _: None),
        kept.answered if kept is not None else lambda _: None,
        wait_for_labelers_s,
    )
    sessions = [place.session] if place.session else []
    try:
        result = _carry_out(plan, oracle, place, run, sessions)
    except BaseException as error:
        tags = tuple(plan.config.required_tags)
        left = _left(place, run, sessions[0] if sessions else "", tags, resumed)
        attach(error, left)
        if kept is not None:
            if left.resume:
                kept.close()
            else:
                kept.remove()
        raise
    if kept is not None:
        if kept.keep:
            kept.close()
        else:
            kept.remove()
    return result


def _left(
    place: Place, run: Run, session: str, tags: tuple[str, ...], resumed: bool
) -> Interruption:
    kept = place.kept
    if kept is not None:
        worth = run.answered_any or resumed
        return Interruption(dict(run.labels), kept.name if worth else "", kept.folder, tags=tags)
    return Interruption(dict(run.labels), session, None, place.server, tags)


def _carry_out(
    plan: RunPlan, oracle: Oracle, place: Place, run: Run, sessions: list[str]
) -> TuningResult:
    """Return the result; the session's name is in `sessions` as soon as there is one."""
    with contextlib.ExitStack() as stack:
        run.enter("starting")
        embedded = None
        if place.kept is not None:
            embedded = stack.enter_context(
                EmbeddedStack(place.workers, place.kept.store, patience_s=_OLD_CHILD_S)
            )
        client = stack.enter_context(
            TuningClient(
                embedded.address if embedded else place.server,
                tls_ca=place.tls_ca,
                # (A service of its own asks nobody who they are.)
                client_cert="" if embedded else None,
                client_key="" if embedded else None,
                token="" if embedded else None,
            )
        )
        run.enter("uploading")
        data = plan.data
        dataset = client.upload_dataset(
            data.X,
            name=plan.title,
            observation_ids=data.ids,
            feature_names=data.feature_names,
            display=data.display or None,
            scaling=plan.scaling,
        )
        run.enter("preparing")
        session = _session(client, plan, place, dataset)
        sessions[:] = [session.name]
        run.budget = session.config.budget
        labeler = _labeler(client, plan, oracle)
        events = list(client.labels(session))
        if isinstance(oracle, KnownLabels):
            for event in events:
                oracle.given(event.observation_id, event.row)
        run.recall(events, labeler)
        if not session.state.ended:
            token = place.kept.token if place.kept is not None else ""
            run.label(client, session, labeler, plan.kind, token)
        run.enter("estimating")
        session = run.wait(client, session)
        result = client.result(session)
        model = client.model(session)
        run.enter("done")
    initial = {**taken_labels(events), **plan.initial}
    said = {asked.observation_id: asked.verdict for asked in run.asked if asked.verdict}
    versions = {"svddtune": __version__, **(embedded.versions if embedded else {})}
    return TuningResult(
        result=result,
        model=model,
        dataset=dataset,
        session=session,
        initial=initial,
        asked=tuple(run.asked),
        timings=run.timings(),
        versions={**versions, **result.manifest.versions},
        outside=outside_rows(model, data.X, data.observation_ids, {**initial, **said}),
    )


def _labeler(client: TuningClient, plan: RunPlan, oracle: Oracle) -> str:
    """Return who labels; empty where each dialogue gets a name of its own."""
    named = plan.labeler or client.server_info().caller
    return named or (oracle.labeler if isinstance(oracle, SessionOracle) else "")


def _session(client: TuningClient, plan: RunPlan, place: Place, dataset: Dataset) -> Session:
    """Return the session to go on with, or a new one."""
    if place.session:
        found: Session | None = client.get_session(place.session)
    else:
        # The service of a folder has no session but the run's.
        found = next(client.list_sessions(), None) if place.kept is not None else None
    if found is None:
        return client.create_session(
            dataset,
            plan.config,
            initial_labels=plan.initial,
            from_session=place.from_session or None,
            controls=place.controls,
            name=plan.title,
            retention_s=place.retention_s,
        )
    if found.dataset != dataset.name:
        raise InvalidInput(
            f"{found.name} is about other data ({found.dataset}) than you gave ({dataset.name}): "
            f"continue with the same rows, ids, display fields and scaling",
            reason="RESUME_OTHER_DATA",
            metadata={"session": found.name, "dataset": found.dataset},
        )
    if plan.config.budget not in (0, found.config.budget):
        found = client.update_session(found, budget=plan.config.budget)
    more = found.state is SessionState.COMPLETED and found.counts.total < found.config.budget
    if more or found.state is SessionState.FAILED:
        found = client.resume_session(found)
    return found
