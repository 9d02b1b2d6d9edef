"""The unary calls of datasets, sessions and results: the request, and how to read its reply.

Without I/O: `TuningClient` and `AsyncTuningClient` carry them out.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from svddtune.client.errors import InvalidInput, WrongState
from svddtune.client.figures import Atlas, DataProfile, HistoryPoint, ServerLoad, SessionMap
from svddtune.client.inputs.ids import id_text
from svddtune.client.inputs.label_values import labels_from
from svddtune.client.inputs.settings import read_settings
from svddtune.client.labelers import (
    Agreement,
    AgreementPair,
    LabelerReport,
    Reopening,
    WithdrawalEffect,
)
from svddtune.client.result import Result
from svddtune.client.types import (
    BatchOutcome,
    Dataset,
    Label,
    LabelEvent,
    Observation,
    RefusedLabel,
    ServerInfo,
    Session,
    SessionState,
)
from svddtune.client.wire import convert
from svddtune.client.wire.convert import (
    agreement_from_proto,
    effect_from_proto,
    report_from_proto,
    server_info_from_proto,
)
from svddtune.client.wire.convert_figures import (
    atlas_from_proto,
    load_from_proto,
    map_from_proto,
    point_from_proto,
    profile_from_proto,
)
from svddtune.client.wire.convert_result import result_from_proto
from svddtune.client.wire.status import from_status
from svddtune.config import SessionConfig, Settings, to_proto
from svddtune.v1 import dataset_pb2 as dpb
from svddtune.v1 import oracle_pb2 as opb
from svddtune.v1 import server_pb2 as srv
from svddtune.v1 import tuning_pb2 as tpb

_T = TypeVar("_T")

# Items of a page of a list, at most.
_PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Call(Generic[_T]):
    """One call: `method` of a service, e.g. "datasets", its request, and how its reply is read."""

    service: str
    method: str
    request: Any
    parse: Callable[[Any], _T]


@dataclass(frozen=True, slots=True)
class Page(Generic[_T]):
    """Part of a list; `token` asks for the next part and is empty after the last."""

    items: tuple[_T, ...]
    token: str


def _new_id() -> str:
    """Return an id by which the service knows a request that comes again."""
    return str(uuid.uuid4())


# The server


def server_info() -> Call[ServerInfo]:
    """Describe the service."""
    return Call("server", "GetServerInfo", srv.GetServerInfoRequest(), server_info_from_proto)


def server_load() -> Call[ServerLoad]:
    """Read who computes and what waits."""
    return Call("server", "GetLoad", srv.GetLoadRequest(), load_from_proto)


# Datasets


def upload_dataset(messages: Iterable[dpb.UploadDatasetRequest]) -> Call[Dataset | None]:
    """Store a matrix."""
    return Call("datasets", "UploadDataset", messages, _dataset)


def get_upload(upload_id: str, tell: Callable[[int], None]) -> Call[Dataset | None]:
    """Read the dataset of an upload, or `tell` the number of rows that an incomplete one has."""

    def read(reply: dpb.GetUploadResponse) -> Dataset | None:
        if reply.HasField("dataset"):
            return _dataset(reply)
        tell(reply.row_count)
        return None

    return Call("datasets", "GetUpload", dpb.GetUploadRequest(upload_id=upload_id), read)


def get_dataset(dataset: str | Dataset) -> Call[Dataset]:
    """Read a dataset's description."""
    return Call("datasets", "GetDataset", dpb.GetDatasetRequest(name=name_of(dataset)), _dataset)


def list_datasets(
    *, display_name: str, labels: Mapping[str, str] | None
) -> Callable[[str], Call[Page[Dataset]]]:
    """Return the call of each page of datasets by its token; newest first."""
    filters = dpb.ListDatasetsRequest(
        page_size=_PAGE_SIZE, display_name=display_name, labels=_label_filter(labels)
    )

    def page(token: str) -> Call[Page[Dataset]]:
        request = dpb.ListDatasetsRequest(page_token=token)
        request.MergeFrom(filters)
        return Call(
            "datasets",
            "ListDatasets",
            request,
            _page(convert.dataset_from_proto, "datasets"),
        )

    return page


def list_observations(dataset: str | Dataset, token: str) -> Call[Page[Observation]]:
    """List a dataset's rows in their order."""
    request = dpb.ListObservationsRequest(
        parent=name_of(dataset), page_size=10_000, page_token=token
    )
    return Call(
        "datasets",
        "ListObservations",
        request,
        _page(convert.observation_from_proto, "observations"),
    )


def delete_dataset(dataset: str | Dataset) -> Call[None]:
    """Delete a dataset that no session uses."""
    request = dpb.DeleteDatasetRequest(name=name_of(dataset), request_id=_new_id())
    return Call("datasets", "DeleteDataset", request, lambda _: None)


# Sessions


def create_session(
    dataset: str | Dataset,
    config: SessionConfig | None,
    *,
    initial_labels: Mapping[str, object] | Iterable[Label],
    controls: Mapping[str, object] | Iterable[Label],
    from_session: str | Session | Result | None,
    name: str,
    labels: Mapping[str, str] | None,
    labeler: str,
    retention_s: float | None,
    validate_only: bool,
    settings: Settings,
) -> Call[Session]:
    """Start a session with `config`, changed by `settings`; or only describe it."""
    request = tpb.CreateSessionRequest(
        dataset=name_of(dataset),
        display_name=name,
        config=to_proto(read_settings(settings, config)),
        initial_labels=[
            tpb.InitialLabel(
                observation_id=id_text(label.observation_id),
                verdict=convert.VERDICTS[label.verdict],
                source_reference=label.source_reference,
                confidence=label.confidence,
            )
            for label in labels_from(initial_labels)
        ],
        controls=[
            tpb.ControlItem(
                observation_id=id_text(label.observation_id),
                verdict=convert.VERDICTS[label.verdict],
            )
            for label in labels_from(controls)
        ],
        labels=labels or {},
        labeler=labeler,
        from_session="" if from_session is None else name_of(from_session),
        retention_seconds=retention_s,
        validate_only=validate_only,
        request_id=_new_id(),
    )
    return Call("tuning", "CreateSession", request, _session)


def get_session(session: str | Session) -> Call[Session]:
    """Read a session."""
    return Call("tuning", "GetSession", tpb.GetSessionRequest(name=name_of(session)), _session)


def list_sessions(
    *,
    states: Iterable[SessionState | str] | SessionState | str,
    dataset: str | Dataset | None,
    display_name: str,
    labels: Mapping[str, str] | None,
) -> Callable[[str], Call[Page[Session]]]:
    """Return the call of each page of sessions by its token; newest first."""
    wanted = (states,) if isinstance(states, str) else states
    filters = tpb.ListSessionsRequest(
        page_size=_PAGE_SIZE,
        states=[convert.choice(convert.STATES, state, "states") for state in wanted],
        dataset="" if dataset is None else name_of(dataset),
        display_name=display_name,
        labels=_label_filter(labels),
    )

    def page(token: str) -> Call[Page[Session]]:
        request = tpb.ListSessionsRequest(page_token=token)
        request.MergeFrom(filters)
        return Call(
            "tuning",
            "ListSessions",
            request,
            _page(convert.session_from_proto, "sessions"),
        )

    return page


def update_session(
    session: str | Session,
    *,
    name: str | None,
    labels: Mapping[str, str] | None,
    budget: int | None,
    priority: int | None,
    trusts: Mapping[str, float] | None,
    retention_s: float | Literal["service"] | None,
    etag: str,
) -> Call[Session]:
    """Change what is not fixed at creation; None keeps it."""
    if budget == 0:
        raise InvalidInput("budget = 0 is not allowed: give 1 or more")
    settings = read_settings({"budget": budget, "priority": priority, "trusts": trusts})
    request = tpb.UpdateSessionRequest(
        session=tpb.Session(
            name=name_of(session), display_name=name or "", labels=labels or {}, etag=etag
        ),
        request_id=_new_id(),
    )
    if name is not None:
        request.update_mask.paths.append("display_name")
    if labels is not None:
        request.update_mask.paths.append("labels")
    if budget is not None:
        request.session.config.budget = settings.budget
        request.update_mask.paths.append("config.budget")
    if priority is not None:
        request.session.config.priority = settings.priority
        request.update_mask.paths.append("config.priority")
    if trusts is not None:
        request.session.config.trusts.update(settings.trusts)
        request.update_mask.paths.append("config.trusts")
    if retention_s is not None:
        if retention_s != "service":
            request.session.retention_seconds = retention_s
        request.update_mask.paths.append("retention_seconds")
    return Call("tuning", "UpdateSession", request, _session)


def pause_session(session: str | Session) -> Call[Session]:
    """Stop asking."""
    request = tpb.PauseSessionRequest(name=name_of(session), request_id=_new_id())
    return Call("tuning", "PauseSession", request, _session)


def resume_session(session: str | Session) -> Call[Session]:
    """Go on asking."""
    request = tpb.ResumeSessionRequest(name=name_of(session), request_id=_new_id())
    return Call("tuning", "ResumeSession", request, _session)


def finish_session(session: str | Session) -> Call[Session]:
    """Stop asking and compute the result."""
    request = tpb.FinishSessionRequest(name=name_of(session), request_id=_new_id())
    return Call("tuning", "FinishSession", request, _session)


def cancel_session(session: str | Session) -> Call[Session]:
    """End without a result."""
    request = tpb.CancelSessionRequest(name=name_of(session), request_id=_new_id())
    return Call("tuning", "CancelSession", request, _session)


def delete_session(session: str | Session, *, etag: str) -> Call[None]:
    """Delete a session with all that belongs to it."""
    request = tpb.DeleteSessionRequest(name=name_of(session), etag=etag, request_id=_new_id())
    return Call("tuning", "DeleteSession", request, lambda _: None)


# Labels and labelers


def list_labels(
    session: str | Session, token: str, newest_first: bool = False
) -> Call[Page[LabelEvent]]:
    """Read the label log."""
    request = tpb.ListLabelsRequest(
        name=name_of(session), page_size=500, page_token=token, newest_first=newest_first
    )
    return Call(
        "tuning",
        "ListLabels",
        request,
        _page(convert.event_from_proto, "events"),
    )


def answer_batch(
    session: str, labeler: str, answers: Sequence[opb.Answer], *, more: bool
) -> Call[BatchOutcome]:
    """Give unasked answers of one labeler; with `more`, a further batch follows."""
    request = opb.AnswerBatchRequest(labeler=labeler, session=session, answers=answers, more=more)

    def outcome(reply: opb.AnswerBatchResponse) -> BatchOutcome:
        observations = {answer.answer_id: answer.observation_id for answer in answers}
        return BatchOutcome(
            reply.applied_count,
            convert.counts_from_proto(reply.counts),
            tuple(
                RefusedLabel(observations[one.answer_id], one.answer_id, from_status(one.status))
                for one in reply.rejects
            ),
        )

    return Call("oracle", "AnswerBatch", request, outcome)


def unasked_answers(
    labels: Mapping[str, object] | Iterable[Label],
    *,
    provenance: str = "",
    replace: bool = False,
    answer_ids: Mapping[str, str] | None = None,
) -> list[opb.Answer]:
    """Messages of labels, with the ids that `answer_ids` has for observations, or new ids."""
    batch = uuid.uuid4().hex
    return [
        opb.Answer(
            answer_id=(answer_ids or {}).get(label.observation_id) or f"{batch}-{place}",
            observation_id=label.observation_id,
            verdict=convert.VERDICTS[label.verdict],
            source_reference=label.source_reference,
            confidence=label.confidence,
            provenance=provenance,
            replace=replace,
        )
        for place, label in enumerate(labels_from(labels))
    ]


def list_labelers(
    session: str | Session, token: str
) -> Call[Page[tuple[tuple[LabelerReport, ...], Agreement]]]:
    """Read who labelled, by name, and how well all labelers agree, which is on every page."""
    request = tpb.ListLabelersRequest(name=name_of(session), page_size=_PAGE_SIZE, page_token=token)

    def read(reply: tpb.ListLabelersResponse) -> Page[tuple[tuple[LabelerReport, ...], Agreement]]:
        reports = tuple(map(report_from_proto, reply.labelers))
        return Page(((reports, agreement_from_proto(reply.agreement)),), reply.next_page_token)

    return Call("tuning", "ListLabelers", request, read)


def agreement(
    session: str | Session, by: Literal["labeler", "provenance"], token: str
) -> Call[Page[AgreementPair]]:
    """Read how each two labelers, or each two sources, agree."""
    request = tpb.GetAgreementRequest(
        name=name_of(session),
        by=convert.choice(convert.AGREEMENT_BY, by, "by"),
        page_size=_PAGE_SIZE,
        page_token=token,
    )
    return Call("tuning", "GetAgreement", request, _page(convert.pair_from_proto, "pairs"))


# Pictures


def list_history(session: str | Session, token: str) -> Call[Page[HistoryPoint]]:
    """Read what was live with each number of labels, oldest first."""
    request = tpb.ListHistoryRequest(name=name_of(session), page_size=500, page_token=token)
    return Call("tuning", "ListHistory", request, _page(point_from_proto, "points"))


def get_atlas(session: str | Session) -> Call[Atlas]:
    """Read what the labels say of every cell."""
    return Call("tuning", "GetAtlas", tpb.GetAtlasRequest(name=name_of(session)), atlas_from_proto)


def get_map(session: str | Session) -> Call[SessionMap]:
    """Read the data in two dimensions."""
    return Call("tuning", "GetMap", tpb.GetMapRequest(name=name_of(session)), map_from_proto)


def get_profile(session: str | Session, labeler: str) -> Call[DataProfile]:
    """Read what the features are like that labelers see."""
    request = opb.GetProfileRequest(session=name_of(session), labeler=labeler)
    return Call("oracle", "GetProfile", request, profile_from_proto)


# Withdrawal


def withdraw_labeler(
    session: str | Session, labeler: str, *, preview: bool
) -> Call[WithdrawalEffect]:
    """Make all votes of a labeler void, or return what that would do."""
    request = tpb.WithdrawLabelerRequest(
        name=name_of(session), labeler=labeler, validate_only=preview, request_id=_new_id()
    )
    return Call("tuning", "WithdrawLabeler", request, _effect)


def reinstate_labeler(session: str | Session, labeler: str) -> Call[WithdrawalEffect]:
    """Let a withdrawn labeler's votes count again."""
    request = tpb.ReinstateLabelerRequest(
        name=name_of(session), labeler=labeler, request_id=_new_id()
    )
    return Call("tuning", "ReinstateLabeler", request, _effect)


def reopen_observation(session: str | Session, observation_id: object) -> Call[Reopening]:
    """Ask again about an observation."""
    request = tpb.ReopenObservationRequest(
        name=name_of(session), observation_id=id_text(observation_id), request_id=_new_id()
    )
    return Call(
        "tuning",
        "ReopenObservation",
        request,
        lambda reply: Reopening(_session(reply), reply.query, reply.retracted_votes),
    )


# Results


def get_result(session: str | Session, revision: int | None) -> Call[Result]:
    """Read the latest result, or an earlier one."""
    request = tpb.GetResultRequest(name=_result_name(session, revision))
    return Call("tuning", "GetResult", request, lambda reply: result_from_proto(reply.result))


def list_results(session: str | Session, token: str) -> Call[Page[Result]]:
    """List results, newest first."""
    request = tpb.ListResultsRequest(
        parent=name_of(session), page_size=_PAGE_SIZE, page_token=token
    )
    return Call(
        "tuning",
        "ListResults",
        request,
        _page(result_from_proto, "results"),
    )


def export_model(session: str | Session, revision: int | None) -> tpb.ExportModelRequest:
    """Return the request of the model's stream."""
    return tpb.ExportModelRequest(name=_result_name(session, revision))


def name_of(resource: str | Dataset | Session | Result) -> str:
    """Return a resource's name."""
    return resource if isinstance(resource, str) else resource.name


def names_of(sessions: Iterable[str | Session] | str | Session | None) -> tuple[str, ...]:
    """Return the names of one session, of several, or of none."""
    if sessions is None:
        return ()
    if isinstance(sessions, str | Session):
        return (name_of(sessions),)
    return tuple(map(name_of, sessions))


def completed(session: Session) -> Session:
    """Return a session that has ended with a result; WrongState where it ended without one."""
    if session.state is SessionState.COMPLETED:
        return session
    why = session.failure_message or f"It is {session.state.value}"
    raise WrongState(
        f"{session.name} ended without a result: {why}",
        reason=session.failure_reason or f"SESSION_{session.state.name}",
        metadata={"session": session.name, "state": session.state.value},
    )


def _page(read: Callable[[Any], _T], entries: str) -> Callable[[Any], Page[_T]]:
    """What the reply of a list call holds, by the name of the field with its entries."""
    return lambda reply: Page(tuple(map(read, getattr(reply, entries))), reply.next_page_token)


def _dataset(reply: Any) -> Dataset:
    return convert.dataset_from_proto(reply.dataset)


def _session(reply: Any) -> Session:
    return convert.session_from_proto(reply.session)


def _effect(reply: Any) -> WithdrawalEffect:
    return effect_from_proto(reply.effect)


def _label_filter(labels: Mapping[str, str] | None) -> list[str]:
    return [f"{key}={value}" for key, value in (labels or {}).items()]


def _result_name(session: str | Session, revision: int | None) -> str:
    return f"{name_of(session)}/results/{'-' if revision is None else revision}"
