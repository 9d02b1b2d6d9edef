"""The connection to a service: datasets, sessions, results; and where labelling starts."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar

import grpc

from svddtune.client.dialogue.unary import UnaryConverse
from svddtune.client.errors import Unavailable, WrongState, from_rpc_error
from svddtune.client.labelers import Agreement, LabelerReport, WithdrawalEffect
from svddtune.client.model import SvddModel
from svddtune.client.result import Result
from svddtune.client.tuning import Tuning
from svddtune.client.types import (
    Dataset,
    Label,
    LabelEvent,
    Observation,
    Session,
    SessionConfig,
    SessionUpdate,
)
from svddtune.client.wire import calls
from svddtune.client.wire.backoff import Backoff
from svddtune.client.wire.calls import Call, Page
from svddtune.client.wire.channel import DEFAULT_ADDRESS, open_channel
from svddtune.client.wire.download import model_from_stream
from svddtune.client.wire.upload import UPLOAD_TRIES, Upload
from svddtune.client.wire.watch import watch_session
from svddtune.v1 import dataset_pb2_grpc, oracle_pb2_grpc, tuning_pb2_grpc

_T = TypeVar("_T")


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
        self._tuning = tuning_pb2_grpc.TuningServiceStub(self._channel)
        self._stubs = {
            "datasets": dataset_pb2_grpc.DatasetServiceStub(self._channel),
            "tuning": self._tuning,
        }
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
        observation_ids: Iterable[object] | None = None,
        feature_names: Iterable[str] | None = None,
        display: Any = None,
        scaling: str = "none",
    ) -> Dataset:
        """Store the N x M matrix `X`; the same content again returns the same dataset.

        Parameters
        ----------
        X : array-like or frame (N, M)
            Finite numbers. A frame's columns give the feature names.
        observation_ids : sequence of N, optional
            Unique texts or whole numbers; default the row numbers.
        feature_names : sequence of M str, optional
            Unique. They stay with the model, which matches frames by them.
        display : sequence of N mappings, or frame with N rows, optional
            What labelers are shown of each observation beside its features; missing values are
            left out.
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
        backoff = Backoff(first_s=0.2, most_s=3.0)
        for attempt in range(1, UPLOAD_TRIES + 1):
            try:
                call = calls.upload_dataset(upload.messages())
                return self._do(call, timeout_s=upload.timeout_s(self.timeout_s))
            except Unavailable as error:
                if attempt == UPLOAD_TRIES or error.reason == "DEADLINE_EXCEEDED":
                    raise
                self._closed.wait(backoff.next_s(error.retry_after_s))
        raise AssertionError("unreachable")

    def get_dataset(self, dataset: str | Dataset) -> Dataset:
        """Return a dataset's description."""
        return self._do(calls.get_dataset(dataset))

    def list_datasets(self) -> Iterator[Dataset]:
        """Yield all datasets, newest first."""
        return self._pages(calls.list_datasets)

    def list_observations(self, dataset: str | Dataset) -> Iterator[Observation]:
        """Yield a dataset's rows in their order: ids and display fields."""
        return self._pages(lambda token: calls.list_observations(dataset, token))

    def delete_dataset(self, dataset: str | Dataset) -> None:
        """Delete a dataset that no session uses."""
        self._do(calls.delete_dataset(dataset))

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

        ``gamma_bounds=(low, high)`` is short for `gamma_min` and `gamma_max`.
        `initial_labels` maps observation ids to verdicts, or holds Labels.
        """
        call = calls.create_session(
            dataset,
            config,
            initial_labels=initial_labels,
            name=name,
            labeler=labeler,
            knobs=knobs,
        )
        return self._do(call)

    def get_session(self, session: str | Session) -> Session:
        """Return the session as it is now."""
        return self._do(calls.get_session(session))

    def list_sessions(self) -> Iterator[Session]:
        """Yield all sessions, newest first."""
        return self._pages(calls.list_sessions)

    def update_session(
        self, session: str | Session, *, budget: int | None = None, priority: int | None = None
    ) -> Session:
        """Change how many labels the session may use, or its priority among sessions."""
        return self._do(calls.update_session(session, budget=budget, priority=priority))

    def update_budget(self, session: str | Session, budget: int) -> Session:
        """Change how many labels the session may use."""
        return self.update_session(session, budget=budget)

    def pause_session(self, session: str | Session) -> Session:
        """Stop asking; answers are still taken."""
        return self._do(calls.pause_session(session))

    def resume_session(self, session: str | Session) -> Session:
        """Go on asking; a completed session needs a larger budget first."""
        return self._do(calls.resume_session(session))

    def finish_session(self, session: str | Session) -> Session:
        """Stop asking and compute the result from the labels there are."""
        return self._do(calls.finish_session(session))

    def cancel_session(self, session: str | Session) -> Session:
        """End the session without a result."""
        return self._do(calls.cancel_session(session))

    def delete_session(self, session: str | Session) -> None:
        """Delete the session, its labels and results."""
        self._do(calls.delete_session(session))

    # Labelling

    def tuning(
        self,
        sessions: str | Session | Iterable[str | Session] | None = None,
        *,
        labeler: str = "",
        kind: str = "automated",
        credit: int = 1,
        stream: bool = True,
        provenance: str = "",
        extend: bool = True,
        resume_token: str = "",
        ack_timeout_s: float = 120.0,
    ) -> Tuning:
        """Open the dialogue with sessions: ``for query in tuning.queries(): ...``.

        Parameters
        ----------
        sessions : session, iterable of sessions, or None
            One; several, at most 100; or none: any session, those created later included.
        labeler : str
            Who labels; default a name of its own for each call.
        kind : "automated" or "human"
        credit : int
            Queries to hold at once over all sessions; 0 for programs that only answer unasked.
        stream : bool
            False where the network carries no streams: the dialogue then goes by single calls.
        provenance : str
            The rule behind the verdicts where a program gives them, e.g. a mapping and its version;
            at most 256 bytes. It stays with each label, and the result's manifest counts it.
        extend : bool
            False leaves leases to run out, so that what is not answered in time goes to others.
        resume_token : str
            Of an earlier dialogue of this labeler: queries that are still with it come again.
        ack_timeout_s : float
            How long an answer may stay without acknowledgement before the call gives up.
        """
        converse: Callable[..., Any] = (
            oracle_pb2_grpc.OracleServiceStub(self._channel).Converse
            if stream
            else UnaryConverse(self._channel, timeout_s=self.timeout_s)
        )
        return Tuning(
            self,
            converse,
            calls.names_of(sessions),
            labeler=labeler or f"client-{uuid.uuid4().hex[:12]}",
            kind=kind,
            credit=credit,
            provenance=provenance,
            extend=extend,
            resume_token=resume_token,
            ack_timeout_s=ack_timeout_s,
        )

    def labels(self, session: str | Session) -> Iterator[LabelEvent]:
        """Yield the session's label log, oldest first."""
        return self._pages(lambda token: calls.list_labels(session, token))

    def list_labelers(self, session: str | Session) -> tuple[tuple[LabelerReport, ...], Agreement]:
        """Return who labelled, by name, and how well they agree."""
        return self._do(calls.list_labelers(session))

    def withdraw_labeler(
        self, session: str | Session, labeler: str, *, preview: bool = False
    ) -> WithdrawalEffect:
        """Make all votes of `labeler` void, now and later; `preview` only tells the effect."""
        return self._do(calls.withdraw_labeler(session, labeler, preview=preview))

    def reinstate_labeler(self, session: str | Session, labeler: str) -> WithdrawalEffect:
        """Let a withdrawn labeler's votes count again."""
        return self._do(calls.reinstate_labeler(session, labeler))

    # Watching and results

    def watch(
        self, session: str | Session, *, timeout_s: float | None = None
    ) -> Iterator[SessionUpdate]:
        """Yield the session now and after every change, until it ends; survives broken streams.

        Raises
        ------
        Unavailable
            WAIT_TIMEOUT after `timeout_s`.
        """
        yield from self._watch(session, timeout_s)

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
                return calls.completed(update.session)
        raise AssertionError("unreachable")

    def result(self, session: str | Session, revision: int | None = None) -> Result:
        """Return the latest result, or an earlier one by its revision."""
        return self._do(calls.get_result(session, revision))

    def results(self, session: str | Session) -> list[Result]:
        """Return all results, newest first, without their curves."""
        return self._do(calls.list_results(session))

    def model(self, session: str | Session, revision: int | None = None) -> SvddModel:
        """Return the fitted model of the latest result, or of an earlier one, verified."""
        request = calls.export_model(session, revision)
        call = self._tuning.ExportModel(request, timeout=self.timeout_s)
        try:
            return model_from_stream(call)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None

    def _watch(self, session: str | Session, timeout_s: float | None) -> Iterator[SessionUpdate]:
        return watch_session(
            self._tuning, calls.name_of(session), self.address, self._closed, timeout_s=timeout_s
        )

    def _pages(self, page: Callable[[str], Call[Page[_T]]]) -> Iterator[_T]:
        token = ""
        while True:
            part = self._do(page(token))
            yield from part.items
            token = part.token
            if not token:
                return

    def _do(self, call: Call[_T], *, timeout_s: float | None = None) -> _T:
        method = getattr(self._stubs[call.service], call.method)
        try:
            reply = method(call.request, timeout=timeout_s or self.timeout_s)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None
        except ValueError as error:  # grpc's way of saying that the channel is closed
            raise WrongState(str(error), reason="CLIENT_CLOSED") from None
        return call.parse(reply)
