"""The connection to a service for asyncio: datasets, sessions, results, and labelling."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, TypeVar

import grpc
import grpc.aio

from svddtune.client.aio.tuning import AsyncTuning
from svddtune.client.aio.watch import watch_session
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.errors import Unavailable, WrongState, from_rpc_error
from svddtune.client.labelers import Agreement, LabelerReport, WithdrawalEffect
from svddtune.client.model import SvddModel
from svddtune.client.result import Result
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
from svddtune.client.wire.channel import DEFAULT_ADDRESS, open_async_channel
from svddtune.client.wire.download import model_from_stream
from svddtune.client.wire.upload import UPLOAD_TRIES, Upload
from svddtune.v1 import dataset_pb2_grpc, oracle_pb2_grpc, tuning_pb2_grpc

_T = TypeVar("_T")


class AsyncTuningClient:
    """A connection to an svddtune service for one event loop; an asynchronous context manager.

    Everything is as in `TuningClient`; what waits there is awaited here.

    Parameters
    ----------
    address : str
        HOST:PORT or unix:PATH.
    tls_ca : path or bytes, optional
        PEM certificates to trust; switches TLS on.
    credentials : grpc.ChannelCredentials, optional
        For all else that TLS can be, client certificates included.
    timeout_s : float
        Deadline of every call.
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
        self._channel = open_async_channel(address, tls_ca=tls_ca, credentials=credentials)
        # The stubs' types know the blocking calls only.
        channel: Any = self._channel
        self._tuning: Any = tuning_pb2_grpc.TuningServiceStub(channel)
        self._stubs: dict[str, Any] = {
            "datasets": dataset_pb2_grpc.DatasetServiceStub(channel),
            "tuning": self._tuning,
        }
        self._converse: Callable[..., Any] = oracle_pb2_grpc.OracleServiceStub(channel).Converse

    async def __aenter__(self) -> AsyncTuningClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection and whatever is open on it."""
        await self._channel.close(None)

    # Datasets

    async def upload_dataset(
        self,
        X: Any,
        *,
        name: str = "",
        observation_ids: Iterable[object] | None = None,
        feature_names: Iterable[str] | None = None,
        display: Any = None,
        scaling: str = "none",
    ) -> Dataset:
        """Store the N x M matrix `X`, see `TuningClient.upload_dataset`."""
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
                return await self._do(call, timeout_s=upload.timeout_s(self.timeout_s))
            except Unavailable as error:
                if attempt == UPLOAD_TRIES or error.reason == "DEADLINE_EXCEEDED":
                    raise
                await asyncio.sleep(backoff.next_s(error.retry_after_s))
        raise AssertionError("unreachable")

    async def get_dataset(self, dataset: str | Dataset) -> Dataset:
        """Return a dataset's description."""
        return await self._do(calls.get_dataset(dataset))

    def list_datasets(self) -> AsyncIterator[Dataset]:
        """Yield all datasets, newest first."""
        return self._pages(calls.list_datasets)

    def list_observations(self, dataset: str | Dataset) -> AsyncIterator[Observation]:
        """Yield a dataset's rows in their order: ids and display fields."""
        return self._pages(lambda token: calls.list_observations(dataset, token))

    async def delete_dataset(self, dataset: str | Dataset) -> None:
        """Delete a dataset that no session uses."""
        await self._do(calls.delete_dataset(dataset))

    # Sessions

    async def create_session(
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
        """
        call = calls.create_session(
            dataset,
            config,
            initial_labels=initial_labels,
            name=name,
            labeler=labeler,
            knobs=knobs,
        )
        return await self._do(call)

    async def get_session(self, session: str | Session) -> Session:
        """Return the session as it is now."""
        return await self._do(calls.get_session(session))

    def list_sessions(self) -> AsyncIterator[Session]:
        """Yield all sessions, newest first."""
        return self._pages(calls.list_sessions)

    async def update_session(
        self, session: str | Session, *, budget: int | None = None, priority: int | None = None
    ) -> Session:
        """Change how many labels the session may use, or its priority among sessions."""
        return await self._do(calls.update_session(session, budget=budget, priority=priority))

    async def pause_session(self, session: str | Session) -> Session:
        """Stop asking; answers are still taken."""
        return await self._do(calls.pause_session(session))

    async def resume_session(self, session: str | Session) -> Session:
        """Go on asking; a completed session needs a larger budget first."""
        return await self._do(calls.resume_session(session))

    async def finish_session(self, session: str | Session) -> Session:
        """Stop asking and compute the result from the labels there are."""
        return await self._do(calls.finish_session(session))

    async def cancel_session(self, session: str | Session) -> Session:
        """End the session without a result."""
        return await self._do(calls.cancel_session(session))

    async def delete_session(self, session: str | Session) -> None:
        """Delete the session, its labels and results."""
        await self._do(calls.delete_session(session))

    # Labelling

    def tuning(
        self,
        sessions: str | Session | Iterable[str | Session] | None = None,
        *,
        labeler: str = "",
        kind: str = "automated",
        credit: int = 1,
        provenance: str = "",
        extend: bool = True,
        resume_token: str = "",
        ack_timeout_s: float = 120.0,
    ) -> AsyncTuning:
        """Return the dialogue with sessions, to be opened by ``async with``.

        See `TuningClient.tuning` for the parameters.
        """
        dialogue = Dialogue(
            calls.names_of(sessions),
            labeler=labeler or f"client-{uuid.uuid4().hex[:12]}",
            kind=kind,
            credit=credit,
            provenance=provenance,
            extend=extend,
            resume_token=resume_token,
        )
        return AsyncTuning(self, self._converse, dialogue, ack_timeout_s=ack_timeout_s)

    def labels(self, session: str | Session) -> AsyncIterator[LabelEvent]:
        """Yield the session's label log, oldest first."""
        return self._pages(lambda token: calls.list_labels(session, token))

    async def list_labelers(
        self, session: str | Session
    ) -> tuple[tuple[LabelerReport, ...], Agreement]:
        """Return who labelled, by name, and how well they agree."""
        return await self._do(calls.list_labelers(session))

    async def withdraw_labeler(
        self, session: str | Session, labeler: str, *, preview: bool = False
    ) -> WithdrawalEffect:
        """Make all votes of `labeler` void, now and later; `preview` only tells the effect."""
        return await self._do(calls.withdraw_labeler(session, labeler, preview=preview))

    async def reinstate_labeler(self, session: str | Session, labeler: str) -> WithdrawalEffect:
        """Let a withdrawn labeler's votes count again."""
        return await self._do(calls.reinstate_labeler(session, labeler))

    # Watching and results

    def watch(
        self, session: str | Session, *, timeout_s: float | None = None
    ) -> AsyncIterator[SessionUpdate]:
        """Yield the session now and after every change, until it ends; survives broken streams."""
        return watch_session(
            self._tuning, calls.name_of(session), self.address, timeout_s=timeout_s
        )

    async def wait_until_completed(
        self,
        session: str | Session,
        *,
        timeout_s: float | None = None,
        on_update: Callable[[Session], None] | None = None,
    ) -> Session:
        """Return the session once its result is there, see `TuningClient.wait_until_completed`."""
        updates: Any = self.watch(session, timeout_s=timeout_s)
        async with aclosing(updates):
            async for update in updates:
                if on_update is not None:
                    on_update(update.session)
                if update.session.state.ended:
                    return calls.completed(update.session)
        raise AssertionError("unreachable")

    async def result(self, session: str | Session, revision: int | None = None) -> Result:
        """Return the latest result, or an earlier one by its revision."""
        return await self._do(calls.get_result(session, revision))

    async def results(self, session: str | Session) -> list[Result]:
        """Return all results, newest first, without their curves."""
        return await self._do(calls.list_results(session))

    async def model(self, session: str | Session, revision: int | None = None) -> SvddModel:
        """Return the fitted model of the latest result, or of an earlier one, verified."""
        request = calls.export_model(session, revision)
        try:
            call = self._tuning.ExportModel(request, timeout=self.timeout_s)
            return model_from_stream([part async for part in call])
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None

    async def _pages(self, page: Callable[[str], Call[Page[_T]]]) -> AsyncIterator[_T]:
        token = ""
        while True:
            part = await self._do(page(token))
            for item in part.items:
                yield item
            token = part.token
            if not token:
                return

    async def _do(self, call: Call[_T], *, timeout_s: float | None = None) -> _T:
        method = getattr(self._stubs[call.service], call.method)
        try:
            reply = await method(call.request, timeout=timeout_s or self.timeout_s)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None
        except grpc.aio.UsageError as error:  # grpc's way of saying that the channel is closed
            raise WrongState(str(error), reason="CLIENT_CLOSED") from None
        return call.parse(reply)
