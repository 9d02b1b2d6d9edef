"""The dialogue by unary calls, for networks without streams.

`UnaryConverse` stands in for the stub's ``Converse``: the same messages go in and come out, so all
that is above it (answer ids, sending again, heartbeats, reconnecting) is that of the stream.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import grpc

from svddtune.client.dialogue.unary_calls import Refused, RunningCalls
from svddtune.client.errors import SvddtuneError
from svddtune.client.wire.backoff import Backoff
from svddtune.v1 import oracle_pb2 as pb
from svddtune.v1 import oracle_pb2_grpc, tuning_pb2, tuning_pb2_grpc

# Seconds that one Lease waits. The session state it reports is never older.
_WAIT_S = 5.0
_DEFAULT_LEASE_S = 60.0
# A lease lasts at least half of its session's lease_seconds; beat three times in it.
_BEATS = 6.0


class UnaryConverse:
    """``Converse`` by the calls Lease, Answer, Skip, Extend, Release and Retract.

    Queries are waited for by long polls. A lease that is gone shows with the next heartbeat or
    answer, as lost.

    Parameters
    ----------
    timeout_s : float
        Deadline of each call in seconds, on top of the time that the server is asked to wait.
    """

    def __init__(self, channel: grpc.Channel, *, timeout_s: float) -> None:
        self._channel = channel
        self._timeout_s = timeout_s
        # Outlives a broken dialogue, as the leases themselves do.
        self._leases = LeaseBook()

    def __call__(
        self, requests: Iterator[pb.ConverseRequest], timeout: float | None = None
    ) -> UnaryDialogue:
        """Begin a dialogue. It may last: `timeout`, that of a stream, does not concern it."""
        return UnaryDialogue(self._channel, self._leases, requests, self._timeout_s)


class UnaryDialogue:
    """One dialogue: iterate over what the server says; breaks off with an error as streams do."""

    def __init__(
        self,
        channel: grpc.Channel,
        leases: LeaseBook,
        requests: Iterator[pb.ConverseRequest],
        timeout_s: float,
    ) -> None:
        # Their types know no futures.
        self._oracle: Any = oracle_pb2_grpc.OracleServiceStub(channel)
        self._tuning: Any = tuning_pb2_grpc.TuningServiceStub(channel)
        self._calls = RunningCalls(timeout_s)
        self._said: queue.SimpleQueue[pb.ConverseResponse | Exception | None] = queue.SimpleQueue()
        self._hello = pb.Hello()
        self._etags: dict[str, str] = {}
        self._changed = threading.Condition()
        # Guarded by it:
        self._leases = leases
        self._credit = 0
        self._asking = True
        self._start(self._talk, requests)

    def __iter__(self) -> Iterator[pb.ConverseResponse]:
        while (item := self._said.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item

    def cancel(self) -> None:
        """End the dialogue now; leases stay until they expire."""
        self._ask_no_more()
        self._calls.end()
        self._said.put(None)

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        def run() -> None:
            try:
                target(*arguments)
            except grpc.FutureCancelledError:
                pass  # `cancel` or Bye did that
            except Refused as refused:  # of no single item
                self._said.put(refused.failure)
            # ValueError: the channel is closed. SvddtuneError: there is no token to send.
            except (grpc.RpcError, ValueError, SvddtuneError) as error:
                self._said.put(error)

        threading.Thread(target=run, name="unary-dialogue", daemon=True).start()

    # What the client says

    def _talk(self, requests: Iterator[pb.ConverseRequest]) -> None:
        for request in requests:
            match request.WhichOneof("message"):
                case "hello":
                    self._on_hello(request.hello)
                case "credit":
                    self._grant(request.credit.queries)
                case "answer" | "skip" | "retract" as kind:
                    self._on_item(kind, getattr(request, kind), request.request_id)
                case "extend":
                    self._on_extend(request.extend)
                case "release":
                    self._on_release(request.release, request.request_id)
                case "bye":
                    self._on_bye()
        self._said.put(None)

    def _on_hello(self, hello: pb.Hello) -> None:
        self._hello = hello
        sessions = [self._session(name) for name in hello.sessions]
        self._welcome(sessions)
        for session in sessions:
            self._progress(session)
        self._on_extend(pb.Extend())  # after a broken dialogue: which leases are left?
        self._grant(hello.credit)
        self._start(self._ask)

    def _grant(self, credit: int) -> None:
        with self._changed:
            self._credit = credit
            self._changed.notify_all()

    def _on_item(self, kind: str, item: Any, request_id: str) -> None:
        lease_id = getattr(item, "lease_id", "")
        with self._changed:
            self._leases.doubt(lease_id)
        method = getattr(self._oracle, kind.capitalize())
        request = _REQUESTS[kind](labeler=self._hello.labeler, **{kind: item})
        try:
            ack = self._calls.make(method, request).ack
            ack.session, ack.request_id = item.session, request_id
            gone = True
            self._say(ack=ack)
        except Refused as refused:
            gone = refused.code is not grpc.StatusCode.INVALID_ARGUMENT
            reject = pb.Reject(
                answer_id=getattr(item, "answer_id", ""),
                query=getattr(item, "query", 0),
                session=item.session,
                status=refused.status,
                request_id=request_id,
            )
            self._say(reject=reject)
        with self._changed:
            self._leases.settle(lease_id, gone=gone)
            self._changed.notify_all()

    def _on_extend(self, extend: pb.Extend) -> None:
        with self._changed:
            held = self._leases.leases(extend.session, extend.lease_ids)
        for session, lease_ids in held.items():
            named = pb.Extend(session=session, lease_ids=lease_ids)
            request = pb.ExtendRequest(labeler=self._hello.labeler, extend=named)
            try:
                ack = self._calls.make(self._oracle.Extend, request).ack
            except Refused:  # the session is gone
                ack = pb.Ack(lost_lease_ids=lease_ids)
            ack.session = session
            with self._changed:
                for lease_id in ack.lost_lease_ids:
                    self._leases.drop(lease_id)
                self._changed.notify_all()
            self._say(ack=ack)

    def _on_release(self, release: pb.Release, request_id: str) -> None:
        with self._changed:
            held = self._leases.leases(release.session, release.lease_ids)
        for session, lease_ids in held.items():
            self._release(session, lease_ids)
            with self._changed:
                for lease_id in lease_ids:
                    self._leases.drop(lease_id)
                self._changed.notify_all()
        self._say(ack=pb.Ack(session=release.session, request_id=request_id))

    def _on_bye(self) -> None:
        self._ask_no_more()
        self._calls.stop()
        with self._changed:
            sessions = self._leases.sessions() | set(self._hello.sessions)
            self._leases.clear()
        for session in sorted(sessions):
            self._release(session, [])  # all: the Lease that was stopped may have taken one, too

    def _release(self, session: str, lease_ids: list[str]) -> None:
        release = pb.Release(session=session, lease_ids=lease_ids)
        request = pb.ReleaseRequest(labeler=self._hello.labeler, release=release)
        with contextlib.suppress(Refused):  # gone already
            self._calls.make(self._oracle.Release, request)

    # What the server says

    def _ask(self) -> None:
        """Lease whenever there is room, from one session after the other."""
        names = list(self._hello.sessions) or [""]
        pause = Backoff(first_s=0.2, most_s=2.0)
        for name in itertools.cycle(tuple(names)):
            if name not in names:
                if not names:
                    return
                continue
            wait_s = _WAIT_S / len(names)
            with self._changed:
                self._changed.wait_for(self._may_ask)
                if not self._asking:
                    return
                most = self._credit - len(self._leases) + self._leases.count(name)
            since = time.monotonic()
            response = self._lease(name, most, wait_s)
            if response is None or response.finish_reason:
                names.remove(name)
            if response and self._hand_out(response, look=not name):
                pause.reset()
            elif time.monotonic() - since < wait_s / 2:
                # What is held already came again, at once: nothing was waited for.
                with self._changed:
                    self._changed.wait(pause.next_s())

    def _may_ask(self) -> bool:
        return not self._asking or len(self._leases) < self._credit

    def _ask_no_more(self) -> None:
        with self._changed:
            self._asking = False
            self._changed.notify_all()

    def _lease(self, name: str, most: int, wait_s: float) -> pb.LeaseResponse | None:
        """Ask for queries once; None where the session is gone."""
        request = pb.LeaseRequest(
            session=name,
            labeler=self._hello.labeler,
            kind=self._hello.kind,
            tags=self._hello.tags,
            max_queries=most,
            wait_seconds=wait_s,
        )
        try:
            response: pb.LeaseResponse = self._calls.make(
                self._oracle.Lease, request, wait_s=wait_s
            )
        except Refused as refused:
            if refused.code is not grpc.StatusCode.NOT_FOUND:
                raise
            gone = tuning_pb2.Session(name=name)
            self._say(finished=pb.Finished(session=gone, reason=pb.FINISH_REASON_DELETED))
            return None
        return response

    def _hand_out(self, response: pb.LeaseResponse, *, look: bool) -> bool:
        """Pass on what a Lease brought; False where no query is new."""
        with self._changed:
            new = self._leases.take(response.assignments)
        if response.HasField("session"):
            self._progress(response.session)
        for name in {assign.session for assign in new} if look else ():
            with contextlib.suppress(Refused):  # deleted just now
                self._progress(self._session(name))
        for assign in new:
            self._say(assign=assign)
        if response.finish_reason:
            finished = pb.Finished(session=response.session, reason=response.finish_reason)
            self._say(finished=finished)
        return bool(new)

    def _welcome(self, sessions: list[tuning_pb2.Session]) -> None:
        leases_s = [session.config.lease_seconds or _DEFAULT_LEASE_S for session in sessions]
        lease_seconds = min(leases_s, default=_DEFAULT_LEASE_S)
        welcome = pb.Welcome(
            heartbeat_seconds=lease_seconds / _BEATS,
            lease_seconds=lease_seconds,
            protocol_version=1,
        )
        if len(sessions) == 1:
            welcome.session.CopyFrom(sessions[0])
        self._say(welcome=welcome)

    def _progress(self, session: tuning_pb2.Session) -> None:
        if self._etags.get(session.name) != session.etag:
            self._etags[session.name] = session.etag
            self._say(progress=pb.Progress(session=session))

    def _session(self, name: str) -> tuning_pb2.Session:
        request = tuning_pb2.GetSessionRequest(name=name)
        session: tuning_pb2.Session = self._calls.make(self._tuning.GetSession, request).session
        return session

    def _say(self, **message: Any) -> None:
        self._said.put(pb.ConverseResponse(**message))


class LeaseBook:
    """Queries held, by lease id. The user holds one lock around every call.

    A lease whose answer is on the way is in doubt: it is neither extended nor given up until the
    server has said what became of it.
    """

    def __init__(self) -> None:
        self._held: dict[str, pb.Assign] = {}
        self._in_doubt: set[str] = set()

    def __len__(self) -> int:
        return len(self._held)

    def take(self, assigns: Iterable[pb.Assign]) -> list[pb.Assign]:
        """Note what a Lease handed out; return what is new."""
        new = [assign for assign in assigns if assign.lease_id not in self._held]
        self._held.update((assign.lease_id, assign) for assign in new)
        return new

    def count(self, session: str) -> int:
        """Queries held of one session; of all for ""."""
        return sum(1 for assign in self._held.values() if session in ("", assign.session))

    def sessions(self) -> set[str]:
        """Sessions of which something is held."""
        return {assign.session for assign in self._held.values()}

    def leases(self, session: str = "", named: Collection[str] = ()) -> dict[str, list[str]]:
        """Leases by session, none in doubt: those of `session`, of all for "", or those named."""
        found: dict[str, list[str]] = {}
        for lease_id, assign in self._held.items():
            wanted = lease_id in named if named else session in ("", assign.session)
            if wanted and lease_id not in self._in_doubt:
                found.setdefault(assign.session, []).append(lease_id)
        return found

    def doubt(self, lease_id: str) -> None:
        """Note that an answer to the query was sent."""
        if lease_id:
            self._in_doubt.add(lease_id)

    def settle(self, lease_id: str, *, gone: bool) -> None:
        """Note that the server has settled the answer."""
        self._in_doubt.discard(lease_id)
        if gone:
            self._held.pop(lease_id, None)

    def drop(self, lease_id: str) -> None:
        """Forget a lease."""
        self._held.pop(lease_id, None)

    def clear(self) -> None:
        """Forget all."""
        self._held.clear()


_REQUESTS: dict[str, Callable[..., Any]] = {
    "answer": pb.AnswerRequest,
    "skip": pb.SkipRequest,
    "retract": pb.RetractRequest,
}
