"""The connection to a service: datasets, sessions, results; and where labelling starts."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

import grpc

from svddtune.client import convert
from svddtune.client.backoff import Backoff
from svddtune.client.channel import DEFAULT_ADDRESS, open_channel
from svddtune.client.convert_result import result_from_proto
from svddtune.client.download import model_from_stream
from svddtune.client.errors import InvalidInput, Unavailable, WrongState, from_rpc_error
from svddtune.client.model import SvddModel
from svddtune.client.result import Result
from svddtune.client.tuning import Tuning
from svddtune.client.types import (
    Dataset,
    Label,
    LabelEvent,
    Session,
    SessionConfig,
    SessionState,
    SessionUpdate,
    Verdict,
)
from svddtune.client.upload import Upload
from svddtune.client.watch import watch_session
from svddtune.v1 import dataset_pb2 as dpb
from svddtune.v1 import dataset_pb2_grpc, tuning_pb2_grpc
from svddtune.v1 import tuning_pb2 as tpb

_T = TypeVar("_T")
_UPLOAD_TRIES = 4


class TuningClient:
    """A connection to an svddtune service; use it as a context manager. Thread-safe.

    Parameters
    ----------
    address : str
        HOST:PORT or unix:PATH.
    tls_ca : path or bytes, optional
        PEM certificates to trust; switches TLS on.
    credentials : grpc.ChannelCredentials, optional
        For all else that TLS can be, client certificates included.
    timeout_s : float
        Deadline of every call. Streams that stay open are renewed every hour.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        tls_ca: str | os.PathLike[str] | bytes | None = None,
        credentials: grpc.ChannelCredentials | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._channel = open_channel(address, tls_ca=tls_ca, credentials=credentials)
        self._datasets = dataset_pb2_grpc.DatasetServiceStub(self._channel)
        self._tuning = tuning_pb2_grpc.TuningServiceStub(self._channel)
        self._closed = threading.Event()

    def __enter__(self) -> TuningClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and whatever is open on it."""
        self._closed.set()
        self._channel.close()

    # Datasets

    def upload_dataset(
        self,
        X: Any,
        *,
        name: str = "",
        observation_ids: Sequence[object] | None = None,
        feature_names: Sequence[str] | None = None,
        display: Sequence[Mapping[str, object]] | None = None,
        scaling: str = "none",
    ) -> Dataset:
        """Store the N x M matrix `X`; the same content again returns the same dataset.

        Parameters
        ----------
        X : array-like (N, M)
            Finite numbers.
        observation_ids : sequence of N, optional
            Unique; default the row numbers.
        display : sequence of N mappings, optional
            What labelers are shown of each observation beside its features.
        scaling : "none", "minmax" or "robust"
            Applied by the service, kept with the model.
        """
        upload = Upload(
            X,
            name=name,
            observation_ids=observation_ids,
            feature_names=feature_names,
            display=display,
            scaling=scaling,
        )
        timeout_s = self.timeout_s + upload.rows.nbytes / 1e6
        backoff = Backoff(first_s=0.2, most_s=3.0)
        for attempt in range(1, _UPLOAD_TRIES + 1):
            try:
                response = self._call(
                    self._datasets.UploadDataset, upload.messages(), timeout_s=timeout_s
                )
                return convert.dataset_from_proto(response.dataset)
            except Unavailable as error:
                if attempt == _UPLOAD_TRIES or error.reason == "DEADLINE_EXCEEDED":
                    raise
                self._closed.wait(backoff.next_s(error.retry_after_s))
        raise AssertionError("unreachable")

    def get_dataset(self, dataset: str | Dataset) -> Dataset:
        """Return a dataset's description."""
        request = dpb.GetDatasetRequest(name=_name(dataset))
        return convert.dataset_from_proto(self._call(self._datasets.GetDataset, request).dataset)

    def list_datasets(self) -> Iterator[Dataset]:
        """Yield all datasets, newest first."""
        token = ""
        while True:
            request = dpb.ListDatasetsRequest(page_size=200, page_token=token)
            page = self._call(self._datasets.ListDatasets, request)
            yield from map(convert.dataset_from_proto, page.datasets)
            token = page.next_page_token
            if not token:
                return

    def delete_dataset(self, dataset: str | Dataset) -> None:
        """Delete a dataset that no session uses."""
        self._call(self._datasets.DeleteDataset, dpb.DeleteDatasetRequest(name=_name(dataset)))

    # Sessions

    def create_session(
        self,
        dataset: str | Dataset,
        config: SessionConfig | None = None,
        *,
        initial_labels: Mapping[str, object] | Iterable[Label] = (),
        name: str = "",
        labeler: str = "",
        **knobs: Any,
    ) -> Session:
        """Start a session; `knobs` are fields of SessionConfig, e.g. ``budget=30, seed=1``.

        `initial_labels` maps observation ids to verdicts, or holds Labels.
        """
        try:
            config = replace(config or SessionConfig(), **knobs)
        except TypeError as error:
            raise InvalidInput(f"No such setting of a session: {error}") from None
        request = tpb.CreateSessionRequest(
            dataset=_name(dataset),
            display_name=name,
            config=convert.config_to_proto(config),
            initial_labels=[
                tpb.InitialLabel(
                    observation_id=label.observation_id,
                    verdict=convert.VERDICTS[label.verdict],
                    source_reference=label.source_reference,
                )
                for label in _labels(initial_labels)
            ],
            labeler=labeler,
            request_id=str(uuid.uuid4()),
        )
        return convert.session_from_proto(self._call(self._tuning.CreateSession, request).session)

    def get_session(self, session: str | Session) -> Session:
        """Return the session as it is now."""
        request = tpb.GetSessionRequest(name=_name(session))
        return convert.session_from_proto(self._call(self._tuning.GetSession, request).session)

    def list_sessions(self) -> Iterator[Session]:
        """Yield all sessions, newest first."""
        token = ""
        while True:
            request = tpb.ListSessionsRequest(page_size=200, page_token=token)
            page = self._call(self._tuning.ListSessions, request)
            yield from map(convert.session_from_proto, page.sessions)
            token = page.next_page_token
            if not token:
                return

    def update_budget(self, session: str | Session, budget: int) -> Session:
        """Change how many labels the session may use."""
        request = tpb.UpdateSessionRequest(name=_name(session), budget=budget)
        return convert.session_from_proto(self._call(self._tuning.UpdateSession, request).session)

    def pause_session(self, session: str | Session) -> Session:
        """Stop asking; answers are still taken."""
        request = tpb.PauseSessionRequest(name=_name(session))
        return convert.session_from_proto(self._call(self._tuning.PauseSession, request).session)

    def resume_session(self, session: str | Session) -> Session:
        """Go on asking; a completed session needs a larger budget first."""
        request = tpb.ResumeSessionRequest(name=_name(session))
        return convert.session_from_proto(self._call(self._tuning.ResumeSession, request).session)

    def finish_session(self, session: str | Session) -> Session:
        """Stop asking and compute the result from the labels there are."""
        request = tpb.FinishSessionRequest(name=_name(session))
        return convert.session_from_proto(self._call(self._tuning.FinishSession, request).session)

    def cancel_session(self, session: str | Session) -> Session:
        """End the session without a result."""
        request = tpb.CancelSessionRequest(name=_name(session))
        return convert.session_from_proto(self._call(self._tuning.CancelSession, request).session)

    def delete_session(self, session: str | Session) -> None:
        """Delete the session, its labels and results."""
        self._call(self._tuning.DeleteSession, tpb.DeleteSessionRequest(name=_name(session)))

    def tuning(
        self,
        session: str | Session,
        *,
        labeler: str = "",
        kind: str = "automated",
        credit: int = 1,
        ack_timeout_s: float = 120.0,
    ) -> Tuning:
        """Open the dialogue with a session: ``for query in tuning.queries(): ...``.

        Parameters
        ----------
        labeler : str
            Who labels; default a name of its own for each call.
        kind : "automated" or "human"
        credit : int
            Queries to hold at once; 0 for programs that only answer unasked.
        ack_timeout_s : float
            How long an answer may stay without acknowledgement before the call gives up.
        """
        return Tuning(
            self,
            self._channel,
            _name(session),
            labeler=labeler or f"client-{uuid.uuid4().hex[:12]}",
            kind=kind,
            credit=credit,
            ack_timeout_s=ack_timeout_s,
        )

    # Watching and results

    def watch(self, session: str | Session) -> Iterator[SessionUpdate]:
        """Yield the session now and after every change, until it ends; survives broken streams."""
        yield from self._watch(session, None)

    def wait_until_completed(
        self,
        session: str | Session,
        *,
        timeout_s: float | None = None,
        on_update: Callable[[Session], None] | None = None,
    ) -> Session:
        """Return the session once its result is there; blocks without polling.

        Raises
        ------
        WrongState
            Where it ended otherwise; the reason is the session's.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`.
        """
        for update in self._watch(session, timeout_s):
            if on_update is not None:
                on_update(update.session)
            if update.session.state.ended:
                return _completed(update.session)
        raise AssertionError("unreachable")

    def labels(self, session: str | Session) -> Iterator[LabelEvent]:
        """Yield the session's label log, oldest first."""
        token = ""
        while True:
            request = tpb.ListLabelsRequest(name=_name(session), page_size=500, page_token=token)
            page = self._call(self._tuning.ListLabels, request)
            yield from map(convert.event_from_proto, page.events)
            token = page.next_page_token
            if not token:
                return

    def result(self, session: str | Session, revision: int | None = None) -> Result:
        """Return the latest result, or an earlier one by its revision."""
        request = tpb.GetResultRequest(name=_result_name(session, revision))
        return result_from_proto(self._call(self._tuning.GetResult, request).result)

    def results(self, session: str | Session) -> list[Result]:
        """Return all results, newest first, without their curves."""
        request = tpb.ListResultsRequest(parent=_name(session))
        response = self._call(self._tuning.ListResults, request)
        return [result_from_proto(result) for result in response.results]

    def model(self, session: str | Session, revision: int | None = None) -> SvddModel:
        """Return the fitted model of the latest result, or of an earlier one, verified."""
        request = tpb.ExportModelRequest(name=_result_name(session, revision))
        call = self._tuning.ExportModel(request, timeout=self.timeout_s)
        try:
            return model_from_stream(call)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None

    def _watch(self, session: str | Session, timeout_s: float | None) -> Iterator[SessionUpdate]:
        return watch_session(
            self._tuning, _name(session), self.address, self._closed, timeout_s=timeout_s
        )

    def _call(
        self, method: Callable[..., _T], request: Any, *, timeout_s: float | None = None
    ) -> _T:
        try:
            return method(request, timeout=timeout_s or self.timeout_s)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None
        except ValueError as error:  # grpc's way of saying that the channel is closed
            raise WrongState(str(error), reason="CLIENT_CLOSED") from None


def _name(resource: str | Dataset | Session) -> str:
    return resource if isinstance(resource, str) else resource.name


def _result_name(session: str | Session, revision: int | None) -> str:
    return f"{_name(session)}/results/{'-' if revision is None else revision}"


def _labels(labels: Mapping[str, object] | Iterable[Label]) -> Iterator[Label]:
    if isinstance(labels, Mapping):
        for observation_id, verdict in labels.items():
            yield Label(str(observation_id), Verdict.of(verdict))
    else:
        yield from labels


def _completed(session: Session) -> Session:
    if session.state is SessionState.COMPLETED:
        return session
    why = session.failure_message or f"It was {session.state.value}"
    raise WrongState(
        f"{session.name} ended without a result: {why}",
        reason=session.failure_reason or f"SESSION_{session.state.name}",
        metadata={"session": session.name, "state": session.state.value},
    )
