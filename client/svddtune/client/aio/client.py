"""The connection to a service: datasets, sessions, results; and where labelling starts."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, TypeVar, Unpack

import grpc

from svddtune.client.aio.connection import AsyncConnection
from svddtune.client.aio.sessions import (
    answer_all,
    fetch_model,
    wait_until_completed,
    watch_session,
)
from svddtune.client.aio.stream import AsyncDialogueStream
from svddtune.client.aio.tuning import AsyncTuning
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.errors import SvddtuneError
from svddtune.client.labelers import Agreement, LabelerReport, WithdrawalEffect
from svddtune.client.model import SvddModel
from svddtune.client.result import Result
from svddtune.client.types import (
    BatchOutcome,
    Dataset,
    Label,
    LabelEvent,
    Observation,
    Session,
    SessionUpdate,
)
from svddtune.client.wire import calls
from svddtune.client.wire.calls import Call, Page
from svddtune.client.wire.channel import DEFAULT_ADDRESS
from svddtune.client.wire.upload import Upload
from svddtune.config import SessionConfig, Settings

_T = TypeVar("_T")


class AsyncTuningClient:
    """A connection to an svddtune service; use it as a context manager.

    ::

        async with AsyncTuningClient("127.0.0.1:50051") as client:
            session = await client.create_session(await client.upload_dataset(X), budget=30)

    Threads may share a blocking client; one of asyncio belongs to one event loop.

    Every call may raise these errors; each method names what else it raises.

    - Unavailable: UNAVAILABLE, nobody answers at the address; DRAINING, the service is about to
      stop; DEADLINE_EXCEEDED, no reply came within `timeout_s`; STORE_FULL or REDIS_UNAVAILABLE,
      the service's store takes no data.
    - InvalidInput: INVALID_NAME, a name is not that of a dataset or session.
    - WrongState: CLIENT_CLOSED, the client was closed.
    - Unauthenticated, PermissionDenied: a proxy in front of the service refuses the caller.
    - InternalError: the service failed.

    Parameters
    ----------
    address : str
        HOST:PORT or unix:PATH.
    tls_ca : path or bytes, optional
        PEM certificates to trust; switches TLS on.
    credentials : grpc.ChannelCredentials, optional
        For all else that TLS can be, client certificates included.
    timeout_s : float
        Deadline of a call in seconds; default 30. An upload gets one more second per megabyte.
        Streams that stay open are renewed every hour.

    Raises
    ------
    InvalidInput
        INVALID_FIELD: `address` has no port.
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
        self._connection = AsyncConnection(
            address, tls_ca=tls_ca, credentials=credentials, timeout_s=timeout_s
        )

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
        await self._connection.close()

    # Datasets

    async def upload_dataset(
        self,
        X: Any,
        *,
        name: str = "",
        observation_ids: Iterable[object] | None = None,
        feature_names: Iterable[str] | None = None,
        display: Any = None,
        scaling: str = "auto",
    ) -> Dataset:
        """Store the N x M matrix `X`; the same content again returns the same dataset.

        If the connection breaks or the service restarts, an upload above 1 MB goes on behind the
        last row that the service has.

        Parameters
        ----------
        X : array-like or frame (N, M)
            Finite numbers up to 1e100 in magnitude. A frame's columns give the feature names.
        name : str
            Shown to people; default none.
        observation_ids : sequence of N, optional
            Unique texts or whole numbers; default the row numbers.
        feature_names : sequence of M str, optional
            Unique. They stay with the model, which matches frames by them.
        display : sequence of N mappings, or frame with N rows, optional
            What labelers are shown of each observation beside its features; missing values are
            left out.
        scaling : str
            How the service represents the columns, kept with the model. "auto" (default): the
            labels choose among several representations. Or one: "none", "minmax", "robust",
            "standard", "ranks", "normal", "asinh" or "whitened"; ``dataset.proto`` defines them.

        Returns
        -------
        Dataset
            Description of the stored dataset.

        Raises
        ------
        InvalidInput
            DATASET_NOT_FINITE, DATASET_OUT_OF_RANGE, DATASET_RAGGED, DATASET_EMPTY,
            DATASET_TOO_LARGE, DUPLICATE_OBSERVATION_ID, DUPLICATE_FEATURE_NAME, INVALID_FIELD.
        Unavailable
            Four attempts failed, or above 1 MB twelve in a row without progress, about half a
            minute; UPLOAD_TIMEOUT, the network was too slow.
        """
        upload = Upload(
            X,
            name=name,
            observation_ids=observation_ids,
            feature_names=feature_names,
            display=display,
            scaling=scaling,
        )
        dataset = None
        while dataset is None:
            try:
                dataset = await self._connection.do(
                    upload.next_call(), timeout_s=upload.timeout_s(self.timeout_s)
                )
            except SvddtuneError as error:
                await self._connection.pause(upload.pause_s(error))
        return dataset

    async def get_dataset(self, dataset: str | Dataset) -> Dataset:
        """Return a dataset's description.

        Parameters
        ----------
        dataset : Dataset or str
            The dataset, or its resource name.

        Raises
        ------
        NotFound
            DATASET_NOT_FOUND.
        """
        return await self._connection.do(calls.get_dataset(dataset))

    def list_datasets(self) -> AsyncIterator[Dataset]:
        """Yield all datasets, newest first."""
        return self._pages(calls.list_datasets)

    def list_observations(self, dataset: str | Dataset) -> AsyncIterator[Observation]:
        """Yield a dataset's rows in their order: ids and display fields.

        Parameters
        ----------
        dataset : Dataset or str
            The dataset, or its resource name.

        Raises
        ------
        NotFound
            DATASET_NOT_FOUND.
        """
        return self._pages(lambda token: calls.list_observations(dataset, token))

    async def delete_dataset(self, dataset: str | Dataset) -> None:
        """Delete a dataset that no session uses.

        Parameters
        ----------
        dataset : Dataset or str
            The dataset, or its resource name.

        Raises
        ------
        NotFound
            DATASET_NOT_FOUND.
        WrongState
            DATASET_IN_USE.
        """
        await self._connection.do(calls.delete_dataset(dataset))

    # Sessions

    async def create_session(
        self,
        dataset: str | Dataset,
        config: SessionConfig | None = None,
        *,
        initial_labels: Mapping[str, object] | Iterable[Label] = (),
        from_session: str | Session | Result | None = None,
        name: str = "",
        labeler: str = "",
        **settings: Unpack[Settings],
    ) -> Session:
        """Start a session.

        Parameters
        ----------
        dataset : Dataset or str
            The dataset, or its resource name.
        config : SessionConfig, optional
            Settings of the session; default the defaults of `SessionConfig`.
        initial_labels : mapping or iterable of Label
            Labels known already: a mapping of observation ids to verdicts, or Labels. Default none.
        from_session : Session, Result or str, optional
            Another session, or its resource name: the new one starts with its labels in force, or
            with those that a result was computed from. On another dataset, which must have ids,
            labels go to observations with the same id; `Session.taken_over` has the numbers. The
            budget counts these labels and must be larger. Default none.
        name : str
            Shown to people; default none.
        labeler : str
            Who gave the initial labels; default the service's own name for them.
        **settings
            Fields of `SessionConfig` that replace those of `config`, e.g. ``budget=30, seed=1``.
            None leaves a field as it is.

        Returns
        -------
        Session
            The new session.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: a setting is unknown or out of range; BUDGET_TOO_LARGE, BUDGET_TOO_SMALL;
            UNKNOWN_OBSERVATION or CONFLICTING_LABELS in `initial_labels`;
            OBSERVATION_IDS_MISSING or NO_COMMON_OBSERVATIONS with `from_session`.
        NotFound
            DATASET_NOT_FOUND, SESSION_NOT_FOUND, RESULT_NOT_FOUND.
        """
        call = calls.create_session(
            dataset,
            config,
            initial_labels=initial_labels,
            from_session=from_session,
            name=name,
            labeler=labeler,
            settings=settings,
        )
        return await self._connection.do(call)

    async def get_session(self, session: str | Session) -> Session:
        """Return the session as it is now.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        return await self._connection.do(calls.get_session(session))

    def list_sessions(self) -> AsyncIterator[Session]:
        """Yield all sessions, newest first."""
        return self._pages(calls.list_sessions)

    async def update_session(
        self, session: str | Session, *, budget: int | None = None, priority: int | None = None
    ) -> Session:
        """Change what is not fixed at creation; return the session.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        budget : int, optional
            Labels that the session may use; default unchanged.
        priority : int, optional
            Priority among sessions, -100 to 100; default unchanged.

        Raises
        ------
        InvalidInput
            BUDGET_TOO_LARGE, BUDGET_TOO_SMALL, INVALID_FIELD.
        NotFound
            SESSION_NOT_FOUND.
        WrongState
            SESSION_NOT_ACTIVE.
        """
        return await self._connection.do(
            calls.update_session(session, budget=budget, priority=priority)
        )

    async def pause_session(self, session: str | Session) -> Session:
        """Stop asking; answers are still taken. Return the session.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        WrongState
            ILLEGAL_TRANSITION: the session is not asking.
        """
        return await self._connection.do(calls.pause_session(session))

    async def resume_session(self, session: str | Session) -> Session:
        """Go on asking; a completed session needs a larger budget first. Return the session.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        WrongState
            BUDGET_SPENT; ILLEGAL_TRANSITION: the session is not paused, completed or failed.
        """
        return await self._connection.do(calls.resume_session(session))

    async def finish_session(self, session: str | Session) -> Session:
        """Stop asking and compute the result from the labels there are; return the session.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        WrongState
            ILLEGAL_TRANSITION: the session has ended.
        """
        return await self._connection.do(calls.finish_session(session))

    async def cancel_session(self, session: str | Session) -> Session:
        """End the session without a result; return it.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        WrongState
            ILLEGAL_TRANSITION: the session has ended.
        """
        return await self._connection.do(calls.cancel_session(session))

    async def delete_session(self, session: str | Session) -> None:
        """Delete the session, its labels and results.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        await self._connection.do(calls.delete_session(session))

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
    ) -> AsyncTuning:
        """Return a dialogue with sessions, to be used as a context manager.

        Parameters
        ----------
        sessions : session, iterable of sessions, or None
            One session, or at most 100. None (default) serves any session, later ones included.
        labeler : str
            Name of the labeler; default a new name for each call.
        kind : "automated" or "human"
            Automated labelers are asked first; default "automated".
        credit : int
            Queries to hold at once over all sessions; default 1. Programs that only label unasked
            take 0.
        stream : bool
            False sends unary calls instead, for networks that carry no streams. Default True.
        provenance : str
            The rule behind the verdicts where a program gives them, e.g. a mapping and its version;
            at most 256 bytes. It stays with each label, and the result's manifest counts it.
        extend : bool
            False lets leases expire, so that a query that is not answered in time goes to somebody
            else. Default True.
        resume_token : str
            Token of an earlier dialogue of this labeler: queries that it still holds come again.
        ack_timeout_s : float
            Seconds to wait for the acknowledgement of an answer; default 120.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: `kind` is unknown.
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
        carrier = AsyncDialogueStream(dialogue, self._connection, stream=stream)
        return AsyncTuning(self._connection, dialogue, carrier, ack_timeout_s=ack_timeout_s)

    async def label_all(
        self,
        session: str | Session,
        labels: Mapping[str, object] | Iterable[Label],
        *,
        labeler: str,
        provenance: str = "",
        replace: bool = False,
    ) -> BatchOutcome:
        """Give many labels unasked, thousands a second, without a dialogue.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        labels : mapping or iterable of Label
            A mapping of observation ids to verdicts, or Labels; at least one.
        labeler : str
            Whose votes they are: 1 to 64 letters, digits and characters of "._@-".
        provenance : str
            The rule behind the verdicts, at most 256 bytes; empty for somebody's own judgement.
        replace : bool
            Correct the labeler's own earlier votes.

        Returns
        -------
        BatchOutcome
            Refused labels with their errors.

        Raises
        ------
        InvalidInput
            INVALID_FIELD, INVALID_LABEL: a label, the labeler or the provenance, or no labels.
        NotFound
            SESSION_NOT_FOUND.
        Unavailable
            The service was away for ten minutes.
        """
        answers = calls.unasked_answers(labels, provenance=provenance, replace=replace)
        return await answer_all(self._connection, calls.name_of(session), labeler, answers)

    def labels(self, session: str | Session) -> AsyncIterator[LabelEvent]:
        """Yield the session's label log, oldest first.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        return self._pages(lambda token: calls.list_labels(session, token))

    async def list_labelers(
        self, session: str | Session
    ) -> tuple[tuple[LabelerReport, ...], Agreement]:
        """Return who labelled, by name, and how well they agree.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        return await self._connection.do(calls.list_labelers(session))

    async def withdraw_labeler(
        self, session: str | Session, labeler: str, *, preview: bool = False
    ) -> WithdrawalEffect:
        """Make all votes of a labeler void, now and later; return the effect.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        labeler : str
            Name of the labeler.
        preview : bool
            True reports the effect without changing anything; default False.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND, UNKNOWN_LABELER.
        WrongState
            SESSION_NOT_ACTIVE.
        """
        return await self._connection.do(calls.withdraw_labeler(session, labeler, preview=preview))

    async def reinstate_labeler(self, session: str | Session, labeler: str) -> WithdrawalEffect:
        """Let a withdrawn labeler's votes count again; return the effect.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        labeler : str
            Name of the labeler.

        Raises
        ------
        NotFound, WrongState
            As `withdraw_labeler`.
        """
        return await self._connection.do(calls.reinstate_labeler(session, labeler))

    # Watching and results

    def watch(
        self, session: str | Session, *, timeout_s: float | None = None
    ) -> AsyncIterator[SessionUpdate]:
        """Yield the session now and after every change, until it ends; survives broken streams.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        timeout_s : float, optional
            Seconds to watch at most; default without end.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`; the last error where five streams failed before the
            session was seen.
        """
        return watch_session(self._connection, calls.name_of(session), timeout_s=timeout_s)

    async def wait_until_completed(
        self,
        session: str | Session,
        *,
        timeout_s: float | None = None,
        on_update: Callable[[Session], None] | None = None,
    ) -> Session:
        """Return the session once its result is there; waits without polling.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        timeout_s : float, optional
            Seconds to wait at most; default without end.
        on_update : callable, optional
            Called with the session now and after every change.

        Raises
        ------
        WrongState
            The session ended without a result; the reason is the session's.
        NotFound
            SESSION_NOT_FOUND.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`.
        """
        return await wait_until_completed(
            self._connection, calls.name_of(session), timeout_s=timeout_s, on_update=on_update
        )

    async def result(self, session: str | Session, revision: int | None = None) -> Result:
        """Return the latest result, or an earlier one.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        revision : int, optional
            Counted from 1; default the latest.

        Raises
        ------
        NotFound
            RESULT_NOT_FOUND, SESSION_NOT_FOUND.
        """
        return await self._connection.do(calls.get_result(session, revision))

    async def results(self, session: str | Session) -> list[Result]:
        """Return all results, newest first, without their curves.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        return await self._connection.do(calls.list_results(session))

    async def model(self, session: str | Session, revision: int | None = None) -> SvddModel:
        """Return the fitted model of the latest result, or of an earlier one, verified.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        revision : int, optional
            Counted from 1; default the latest.

        Raises
        ------
        NotFound
            RESULT_NOT_FOUND, SESSION_NOT_FOUND.
        ModelCorrupt
            The model that came does not reproduce its own check values.
        """
        return await fetch_model(self._connection, session, revision)

    async def _pages(self, page: Callable[[str], Call[Page[_T]]]) -> AsyncIterator[_T]:
        token = ""
        while True:
            part = await self._connection.do(page(token))
            for item in part.items:
                yield item
            token = part.token
            if not token:
                return
