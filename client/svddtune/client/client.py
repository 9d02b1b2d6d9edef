# Generated from client/svddtune/client/aio/client.py by tools/generate_sync.py.
"""The connection to a service: datasets, sessions, results; and where labelling starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack

import grpc

from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.dialogue.stream import DialogueStream
from svddtune.client.errors import SvddtuneError
from svddtune.client.figures import Atlas, DataProfile, History, ServerLoad, SessionMap
from svddtune.client.inputs.frames import read_features
from svddtune.client.labelers import (
    Agreement,
    AgreementPair,
    LabelerReport,
    Reopening,
    WithdrawalEffect,
)
from svddtune.client.model import SvddModel
from svddtune.client.result import Result
from svddtune.client.tuning import Tuning
from svddtune.client.types import (
    BatchOutcome,
    Dataset,
    Label,
    LabelEvent,
    Observation,
    RowScores,
    ServerInfo,
    Session,
    SessionState,
    SessionUpdate,
    Which,
)
from svddtune.client.wire import calls, scoring
from svddtune.client.wire.access import Access
from svddtune.client.wire.calls import Call, Page
from svddtune.client.wire.channel import DEFAULT_ADDRESS
from svddtune.client.wire.connection import Connection
from svddtune.client.wire.sessions import (
    answer_all,
    fetch_model,
    wait_until_completed,
    watch_session,
)
from svddtune.client.wire.upload import Upload
from svddtune.config import SessionConfig, Settings

_T = TypeVar("_T")


class TuningClient:
    """A connection to an svddtune service; use it as a context manager.

    ::

        with TuningClient("127.0.0.1:50051") as client:
            session = client.create_session(client.upload_dataset(X), budget=30)

    Threads may share a blocking client; one of asyncio belongs to one event loop.

    Every call may raise these errors; each method names what else it raises.

    - Unavailable: UNAVAILABLE, nobody answers at the address; DRAINING, the service is about to
      stop; DEADLINE_EXCEEDED, no reply came within `timeout_s`; STORE_FULL or STORE_UNAVAILABLE,
      the service's store takes no data.
    - InvalidInput: INVALID_NAME, a name is not that of a dataset or session.
    - WrongState: CLIENT_CLOSED, the client was closed.
    - Unauthenticated: CREDENTIALS_MISSING, CREDENTIALS_INVALID, the service does not know the
      caller. PermissionDenied: ROLE_TOO_LOW, the caller's role does not include this. A proxy in
      front of the service may refuse the caller, too.
    - InternalError: the service failed.

    Parameters
    ----------
    address : str
        HOST:PORT or unix:PATH.
    tls_ca : path or bytes, optional
        PEM certificates to trust; switches TLS on.
    client_cert, client_key : path, optional
        Certificate that tells the service who calls, and its key without a password, in PEM;
        switch TLS on. If not given, SVDDTUNE_CLIENT_CERT and SVDDTUNE_CLIENT_KEY name them; ""
        uses none. Without `tls_ca`, the authorities that gRPC knows are trusted.
    credentials : grpc.ChannelCredentials, optional
        For all else that TLS can be; replaces `tls_ca`, `client_cert` and `client_key`.
    token : str or callable, optional
        Tells the service who calls. A callable is asked before each call, in any thread, and
        returns the token that is valid now; it must not take long. If not given, the environment
        has it: SVDDTUNE_TOKEN, or the file SVDDTUNE_TOKEN_FILE, which is read again before each
        call; "" uses none. A token is not sent beyond this machine without TLS.
    timeout_s : float
        Deadline of a call in seconds; default 30. An upload gets one more second per megabyte.
        Streams that stay open are renewed every hour.

    Raises
    ------
    InvalidInput
        INVALID_FIELD: `address` has no port. INVALID_TOKEN: the token cannot be sent.
        TOKEN_NOT_ENCRYPTED: others could read the token. INVALID_CERTIFICATE: a file cannot be
        read, holds no certificate, or the key is not that of the certificate.
    Unavailable
        TOKEN_UNAVAILABLE: the callable failed.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        tls_ca: str | os.PathLike[str] | bytes | None = None,
        client_cert: str | os.PathLike[str] | None = None,
        client_key: str | os.PathLike[str] | None = None,
        credentials: grpc.ChannelCredentials | None = None,
        token: str | Callable[[], str] | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._access = Access(tls_ca, client_cert, client_key, credentials, token)
        self._connection = Connection(address, self._access, timeout_s=timeout_s)

    def __repr__(self) -> str:
        return f"TuningClient({self.address!r})"

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
        self._connection.close()

    def server_info(self) -> ServerInfo:
        """Return what the service is, what it can do and whether it is ready.

        It answers while the service's store is down, too.

        Returns
        -------
        ServerInfo
        """
        return self._connection.do(calls.server_info())

    # Datasets

    def server_load(self) -> ServerLoad:
        """Return which workers are there and what waits, of all projects together.

        Raises
        ------
        Unavailable
            STORE_UNAVAILABLE.
        """
        return self._connection.do(calls.server_load())

    def upload_dataset(
        self,
        X: Any,
        *,
        name: str = "",
        observation_ids: Iterable[object] | None = None,
        feature_names: Iterable[str] | None = None,
        display: Any = None,
        scaling: str = "auto",
        labels: Mapping[str, str] | None = None,
        on_progress: Callable[[int], None] | None = None,
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
        labels : mapping of str to str, optional
            Keys and values for whoever manages datasets, at most 16, e.g. ``{"team": "payments"}``;
            keys have 1 to 63 lower-case letters, digits, "_" and "-", values at most 128 bytes.
            A dataset that is stored already keeps its own. Default none.
        on_progress : callable, optional
            Called with the number of rows handed to the connection so far, out of N, in a thread
            of the connection. After a break it is less than before.

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
            labels=labels,
            on_progress=on_progress,
        )
        dataset = None
        while dataset is None:
            try:
                dataset = self._connection.do(
                    upload.next_call(), timeout_s=upload.timeout_s(self.timeout_s)
                )
            except SvddtuneError as error:
                self._connection.pause(upload.pause_s(error))
        return dataset

    def get_dataset(self, dataset: str | Dataset) -> Dataset:
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
        return self._connection.do(calls.get_dataset(dataset))

    def list_datasets(
        self, *, display_name: str = "", labels: Mapping[str, str] | None = None
    ) -> Iterator[Dataset]:
        """Yield the datasets for which all filters hold, newest first; by default all datasets.

        Parameters
        ----------
        display_name : str
            A part of the display name, in upper or lower case.
        labels : mapping of str to str, optional
            Labels that the dataset has; it may have others too.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: a key of `labels` cannot be one.
        """
        return self._pages(calls.list_datasets(display_name=display_name, labels=labels))

    def list_observations(self, dataset: str | Dataset) -> Iterator[Observation]:
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

    def delete_dataset(self, dataset: str | Dataset) -> None:
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
        self._connection.do(calls.delete_dataset(dataset))

    # Sessions

    def create_session(
        self,
        dataset: str | Dataset,
        config: SessionConfig | None = None,
        *,
        initial_labels: Mapping[str, object] | Iterable[Label] = (),
        controls: Mapping[str, object] | Iterable[Label] = (),
        from_session: str | Session | Result | None = None,
        name: str = "",
        labels: Mapping[str, str] | None = None,
        labeler: str = "",
        retention_s: float | None = None,
        validate_only: bool = False,
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
        controls : mapping or iterable of Label
            Observations whose labels are known and that labelers are asked about to see how good
            they are, at most 1000; the answers are no votes. See `list_labelers` and the setting
            `control_share`. Default none.
        from_session : Session, Result or str, optional
            Another session, or its resource name: the new one starts with its labels in force, or
            with those that a result was computed from. On another dataset, which must have ids,
            labels go to observations with the same id; `Session.taken_over` has the numbers. The
            budget counts these labels and must be larger. Default none.
        name : str
            Shown to people; default none.
        labels : mapping of str to str, optional
            Keys and values for whoever manages sessions, at most 16, e.g. ``{"team": "payments"}``;
            keys have 1 to 63 lower-case letters, digits, "_" and "-", values at most 128 bytes.
            Default none.
        labeler : str
            Who gave the initial labels; default the service's own name for them.
        retention_s : float, optional
            Seconds after its end at which the service deletes the session, 1 to 315,360,000; 0
            keeps it for good. Default as the service is set, which `Session.expire_time` shows.
        validate_only : bool
            Check everything and return the session as it would be, with its `estimate` and an empty
            name; nothing is created. Default False.
        **settings
            Fields of `SessionConfig` that replace those of `config`, e.g. ``budget=30, seed=1``.
            None leaves a field as it is.

        Returns
        -------
        Session
            The new session, or with `validate_only` its description.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: a setting is unknown or out of range; BUDGET_TOO_LARGE, BUDGET_TOO_SMALL;
            UNKNOWN_OBSERVATION or CONFLICTING_LABELS in `initial_labels` or `controls`;
            OBSERVATION_IDS_MISSING or NO_COMMON_OBSERVATIONS with `from_session`.
        NotFound
            DATASET_NOT_FOUND, SESSION_NOT_FOUND, RESULT_NOT_FOUND.
        """
        call = calls.create_session(
            dataset,
            config,
            initial_labels=initial_labels,
            controls=controls,
            from_session=from_session,
            name=name,
            labels=labels,
            labeler=labeler,
            retention_s=retention_s,
            validate_only=validate_only,
            settings=settings,
        )
        return self._connection.do(call)

    def get_session(self, session: str | Session) -> Session:
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
        return self._connection.do(calls.get_session(session))

    def list_sessions(
        self,
        *,
        states: Iterable[SessionState | str] | SessionState | str = (),
        dataset: str | Dataset | None = None,
        display_name: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Iterator[Session]:
        """Yield the sessions for which all filters hold, newest first; by default all sessions.

        Parameters
        ----------
        states : iterable of SessionState or str, or one of them
            The session is in one of these states, e.g. "labeling"; default in any.
        dataset : Dataset or str, optional
            The dataset of the session, or its resource name.
        display_name : str
            A part of the display name, in upper or lower case.
        labels : mapping of str to str, optional
            Labels that the session has; it may have others too.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: there is no such state, or a key of `labels` cannot be one.
        """
        return self._pages(
            calls.list_sessions(
                states=states, dataset=dataset, display_name=display_name, labels=labels
            )
        )

    def update_session(
        self,
        session: str | Session,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        budget: int | None = None,
        priority: int | None = None,
        trusts: Mapping[str, float] | None = None,
        retention_s: float | Literal["service"] | None = None,
        etag: str = "",
    ) -> Session:
        """Change what is not fixed at creation; return the session.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        name : str, optional
            A name for people, at most 128 bytes; default unchanged.
        labels : mapping of str to str, optional
            Keys and values in place of those that it has, at most 16; default unchanged.
        budget : int, optional
            Labels that the session may use; default unchanged.
        priority : int, optional
            Priority among sessions, -100 to 100; default unchanged.
        trusts : mapping of str to float, optional
            How often the answers of labelers are right, in place of all that were given; they count
            from the next ranking of queries and in the result. Default unchanged.
        retention_s : float or "service", optional
            Seconds after its end at which the service deletes the session, 1 to 315,360,000; 0
            keeps it for good, and "service" as long as the service is set to. A session that has
            ended longer ago is deleted at once. Default unchanged.
        etag : str, optional
            `Session.etag`: change nothing if the session has changed since; default whatever it is
            like.

        Raises
        ------
        Conflict
            ETAG_MISMATCH.
        InvalidInput
            BUDGET_TOO_LARGE, BUDGET_TOO_SMALL, INVALID_FIELD.
        NotFound
            SESSION_NOT_FOUND.
        WrongState
            SESSION_NOT_ACTIVE.
        """
        return self._connection.do(
            calls.update_session(
                session,
                name=name,
                labels=labels,
                budget=budget,
                priority=priority,
                trusts=trusts,
                retention_s=retention_s,
                etag=etag,
            )
        )

    def pause_session(self, session: str | Session) -> Session:
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
        return self._connection.do(calls.pause_session(session))

    def resume_session(self, session: str | Session) -> Session:
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
        return self._connection.do(calls.resume_session(session))

    def finish_session(self, session: str | Session) -> Session:
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
        return self._connection.do(calls.finish_session(session))

    def cancel_session(self, session: str | Session) -> Session:
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
        return self._connection.do(calls.cancel_session(session))

    def delete_session(self, session: str | Session, *, etag: str = "") -> None:
        """Delete the session, its labels and results.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        etag : str, optional
            `Session.etag`: delete nothing if the session has changed since; default whatever it is
            like.

        Raises
        ------
        Conflict
            ETAG_MISMATCH.
        NotFound
            SESSION_NOT_FOUND.
        """
        self._connection.do(calls.delete_session(session, etag=etag))

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
        tags: Iterable[str] = (),
        extend: bool = True,
        resume_token: str = "",
        ack_timeout_s: float = 120.0,
    ) -> Tuning:
        """Return a dialogue with sessions, to be used as a context manager.

        Parameters
        ----------
        sessions : session, iterable of sessions, or None
            One session, or at most 100. None (default) serves any session, later ones included.
        labeler : str
            Name of the labeler; default a new name for each call, and with a token or a client
            certificate the name in it.
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
        tags : iterable of str
            What the labeler says of itself, e.g. ``["german", "network"]``: sessions with
            `required_tags` ask those who have them all; at most 16. Default none.
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
            labeler=labeler or self._access.default_labeler(),
            kind=kind,
            credit=credit,
            provenance=provenance,
            extend=extend,
            resume_token=resume_token,
            tags=tuple(tags),
        )
        carrier = DialogueStream(dialogue, self._connection, stream=stream)
        return Tuning(self._connection, dialogue, carrier, ack_timeout_s=ack_timeout_s)

    def label_all(
        self,
        session: str | Session,
        labels: Mapping[str, object] | Iterable[Label],
        *,
        labeler: str,
        provenance: str = "",
        replace: bool = False,
        answer_ids: Mapping[str, str] | None = None,
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
        answer_ids : mapping, optional
            Ids of the answers by observation, so that labels given again count once; default new
            ids.

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
        answers = calls.unasked_answers(
            labels, provenance=provenance, replace=replace, answer_ids=answer_ids
        )
        return answer_all(self._connection, calls.name_of(session), labeler, answers)

    def labels(self, session: str | Session, *, newest_first: bool = False) -> Iterator[LabelEvent]:
        """Yield the session's label log, oldest first unless asked otherwise.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        newest_first : bool
            The last events first; events that come meanwhile are left out.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        return self._pages(lambda token: calls.list_labels(session, token, newest_first))

    def list_labelers(self, session: str | Session) -> tuple[tuple[LabelerReport, ...], Agreement]:
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
        parts = list(self._pages(partial(calls.list_labelers, session)))
        return tuple(report for reports, _ in parts for report in reports), parts[0][1]

    def agreement(
        self, session: str | Session, *, by: Literal["labeler", "provenance"] = "labeler"
    ) -> tuple[AgreementPair, ...]:
        """Return how each two labelers, or each two sources of votes, agree.

        Those without a labelled observation in common are left out.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        by : {"labeler", "provenance"}
            Compare labelers (default), or the rules behind their votes; votes without a rule are
            one source with an empty name.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: `by` is neither of the two.
        NotFound
            SESSION_NOT_FOUND.
        """
        pairs = list(self._pages(partial(calls.agreement, session, by)))
        return tuple(pairs)

    def history(self, session: str | Session) -> History:
        """Return what was live with each number of labels, oldest first.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        points = list(self._pages(partial(calls.list_history, session)))
        return History(points)

    def atlas(self, session: str | Session) -> Atlas:
        """Return what the labels say of every cell: a score for each gamma and C.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        return self._connection.do(calls.get_atlas(session))

    def map(self, session: str | Session) -> SessionMap:
        """Return the data in two dimensions, with what the best cell says of each row.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND.
        """
        return self._connection.do(calls.get_map(session))

    def profile(self, session: str | Session, *, labeler: str) -> DataProfile:
        """Return what the features are like that the session's labelers see.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        labeler : str
            Name of the labeler who asks.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: the labeler's name.
        NotFound
            SESSION_NOT_FOUND.
        """
        return self._connection.do(calls.get_profile(session, labeler))

    def withdraw_labeler(
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
        return self._connection.do(calls.withdraw_labeler(session, labeler, preview=preview))

    def reinstate_labeler(self, session: str | Session, labeler: str) -> WithdrawalEffect:
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
        return self._connection.do(calls.reinstate_labeler(session, labeler))

    def reopen_observation(self, session: str | Session, observation_id: object) -> Reopening:
        """Ask again about an observation with votes or left out; return what it had.

        The votes on it are retracted: they stay in the label log and count no more. Anybody may be
        asked, also who voted before.

        Parameters
        ----------
        session : Session or str
            The session, or its resource name.
        observation_id : str or int
            The observation.

        Raises
        ------
        InvalidInput
            UNKNOWN_OBSERVATION.
        NotFound
            SESSION_NOT_FOUND.
        WrongState
            NOTHING_TO_REOPEN: it has no vote; SESSION_NOT_ACTIVE.
        """
        return self._connection.do(calls.reopen_observation(session, observation_id))

    # Watching and results

    def watch(
        self, session: str | Session, *, timeout_s: float | None = None
    ) -> Iterator[SessionUpdate]:
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

    def wait_until_completed(
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
        return wait_until_completed(
            self._connection, calls.name_of(session), timeout_s=timeout_s, on_update=on_update
        )

    def result(self, session: str | Session, revision: int | None = None) -> Result:
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
        return self._connection.do(calls.get_result(session, revision))

    def results(self, session: str | Session) -> list[Result]:
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
        return list(self._pages(partial(calls.list_results, session)))

    def model(self, session: str | Session, revision: int | None = None) -> SvddModel:
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
        return fetch_model(self._connection, session, revision)

    def score(
        self,
        model: str | Session | Result,
        X: Any,
        *,
        which: Which = "svdd",
        reasons: int = 0,
    ) -> RowScores:
        """Let the service judge rows by a model, without downloading it.

        The figures are those of the `SvddModel` that `model` returns.

        Parameters
        ----------
        model : Session, Result or str
            A session, for its latest result; a result; or the name of one of these or of an
            uploaded model.
        X : array-like or frame (n, M)
            Rows in the units of the dataset. The columns of a frame are matched by name, in any
            order.
        which : {"svdd", "refined"}
            The tuned SVDD, or the refined detector.
        reasons : int
            Number of unusual features to name for each row, 0 to 100; default none.

        Returns
        -------
        RowScores

        Raises
        ------
        InvalidInput
            FEATURE_NAMES_MISMATCH, FEATURE_COUNT_MISMATCH: the columns are not the model's;
            DATASET_NOT_FINITE and others for values that are no finite numbers; REFINED_MISSING,
            PROFILE_MISSING: the model cannot do what is asked for.
        NotFound
            RESULT_NOT_FOUND, SESSION_NOT_FOUND, MODEL_NOT_FOUND.
        InternalError
            MODEL_DAMAGED: the stored model does not compute what it was fitted with.
        ValueError
            `which` is neither of the two.
        """
        features, name = read_features(X), scoring.model_name(model)
        parts: list[RowScores] = []
        for rows in scoring.blocks(features, reasons):
            call = scoring.score(name, features.names, rows, which=which, reasons=reasons)
            parts.append(self._connection.do(call))
            # All rows are judged by one model, whatever results come meanwhile.
            name = parts[0].model
        return scoring.joined(parts)

    def _pages(self, page: Callable[[str], Call[Page[_T]]]) -> Iterator[_T]:
        token = ""
        while True:
            part = self._connection.do(page(token))
            yield from part.items
            token = part.token
            if not token:
                return
