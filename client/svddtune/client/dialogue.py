"""The oracle dialogue from the client's side, without I/O: messages in, messages out.

Who uses it holds one lock around every call. A `Dialogue` outlives its streams: what was not
acknowledged is sent again on the next one, with the same answer id, which has one effect.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict, deque
from concurrent.futures import Future
from dataclasses import dataclass, replace

from svddtune.client import convert
from svddtune.client.errors import SvddtuneError, from_status
from svddtune.client.types import Ack, LabelCounts, Query, Session, SkipMode, Verdict
from svddtune.v1 import oracle_pb2 as pb

PROTOCOL_VERSION = 1
# After these the query is no longer ours to answer; after all others it is, better this time.
_QUERY_IS_GONE = {"LEASE_LOST", "UNKNOWN_QUERY", "ALREADY_ANSWERED", "SESSION_NOT_ACTIVE"}


@dataclass(slots=True)
class Pending:
    """Something sent, or to be sent, that has no Ack yet."""

    message: pb.ConverseRequest
    future: Future[Ack]
    query: int = 0
    lease_id: str = ""
    resent: bool = False


class Dialogue:
    """What one labeler knows of one session's dialogue.

    A query is `held` from its Assign until its answer is acknowledged, it is skipped, given back
    or revoked; it is in `inbox` from its Assign until the caller takes it.
    """

    def __init__(self, session: str, *, labeler: str, kind: str, credit: int) -> None:
        self.session_name = session
        self.labeler = labeler
        self.credit = credit
        self.heartbeat_s = 20.0
        self.welcomed = False
        self.finished = ""
        self.draining = False
        self.session: Session | None = None
        self.counts = LabelCounts()
        self.held: OrderedDict[int, Query] = OrderedDict()
        self.inbox: deque[int] = deque()
        self.per_query_s: list[float] = []
        self._kind = convert.choice(convert.LABELER_KINDS, kind, "kind")
        self._pending: OrderedDict[str, Pending] = OrderedDict()
        self._resume_token = ""
        self._answered_at: float | None = None

    # To the server

    def hello(self) -> pb.ConverseRequest:
        """Return the first message of a stream, and expect a Welcome."""
        self.welcomed = self.draining = False
        return pb.ConverseRequest(
            hello=pb.Hello(
                protocol_version=PROTOCOL_VERSION,
                labeler=self.labeler,
                kind=self._kind,
                sessions=[self.session_name],
                resume_token=self._resume_token,
                credit=self.credit,
            )
        )

    def answer(
        self, query: Query, verdict: Verdict, source_reference: str, now: float
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that answers `query`."""
        self._answered_at = now
        message = pb.Answer(
            answer_id=uuid.uuid4().hex,
            session=self.session_name,
            query=query.number,
            lease_id=query.lease_id,
            observation_id=query.observation_id,
            verdict=convert.VERDICTS[verdict],
            source_reference=source_reference,
        )
        return self._send(message.answer_id, pb.ConverseRequest(answer=message), query)

    def label(
        self, observation_id: str, verdict: Verdict, source_reference: str
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that labels an observation unasked."""
        message = pb.Answer(
            answer_id=uuid.uuid4().hex,
            session=self.session_name,
            observation_id=observation_id,
            verdict=convert.VERDICTS[verdict],
            source_reference=source_reference,
        )
        return self._send(message.answer_id, pb.ConverseRequest(answer=message))

    def retract(self, observation_id: str) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that withdraws an observation's label."""
        message = pb.Retract(
            answer_id=uuid.uuid4().hex, session=self.session_name, observation_id=observation_id
        )
        return self._send(message.answer_id, pb.ConverseRequest(retract=message))

    def skip(self, query: Query, mode: SkipMode) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that skips `query`."""
        message = pb.Skip(
            session=self.session_name,
            query=query.number,
            lease_id=query.lease_id,
            mode=convert.SKIP_MODES[mode],
        )
        return self._send(f"skip {query.number}", pb.ConverseRequest(skip=message), query)

    def release(self, query: Query) -> pb.ConverseRequest:
        """Return the message that gives `query` back."""
        self._forget(query.number)
        return pb.ConverseRequest(
            release=pb.Release(session=self.session_name, lease_ids=[query.lease_id])
        )

    def set_credit(self, credit: int) -> pb.ConverseRequest:
        """Return the message that changes how many queries are held at once."""
        self.credit = credit
        return pb.ConverseRequest(credit=pb.Credit(queries=credit))

    def heartbeat(self) -> pb.ConverseRequest | None:
        """Return the message that keeps the leases, None where nothing is held."""
        if not self.held:
            return None
        return pb.ConverseRequest(extend=pb.Extend(session=self.session_name))

    def _send(
        self, key: str, message: pb.ConverseRequest, query: Query | None = None
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        future: Future[Ack] = Future()
        number, lease_id = (query.number, query.lease_id) if query else (0, "")
        self._pending[key] = Pending(message, future, number, lease_id)
        return message, future

    # From the server

    def receive(self, response: pb.ConverseResponse, now: float) -> list[pb.ConverseRequest]:
        """Take one message in; return what is to be sent because of it."""
        kind = response.WhichOneof("message")
        if kind == "welcome":
            return self._on_welcome(response.welcome)
        if kind == "assign":
            self._on_assign(response.assign, now)
        elif kind == "ack":
            self._on_ack(response.ack)
        elif kind == "reject":
            self._on_reject(response.reject)
        elif kind == "revoke":
            self._on_revoke(response.revoke)
        elif kind == "progress":
            self._see(convert.session_from_proto(response.progress.session))
        elif kind == "drain":
            self.draining = True
        elif kind == "finished":
            if response.finished.HasField("session"):
                self._see(convert.session_from_proto(response.finished.session))
            self.finished = response.finished.reason or "FINISHED"
        return []

    def fail(self, error: SvddtuneError) -> None:
        """End everything that waits, with `error`."""
        pending, self._pending = self._pending, OrderedDict()
        for item in pending.values():
            item.future.set_exception(error)

    @property
    def idle(self) -> bool:
        """True where nothing waits for an Ack."""
        return not self._pending

    def is_open(self, query: Query) -> bool:
        """Return whether `query` is still with this labeler and not answered."""
        held = self.held.get(query.number)
        return held is not None and not self._is_pending(query.number)

    @property
    def open_count(self) -> int:
        """Queries that the caller has taken and neither answered nor skipped."""
        waiting = set(self.inbox)
        return sum(1 for n in self.held if n not in waiting and not self._is_pending(n))

    def _is_pending(self, query: int) -> bool:
        return any(item.query == query for item in self._pending.values())

    def _on_welcome(self, welcome: pb.Welcome) -> list[pb.ConverseRequest]:
        self.welcomed = True
        self._resume_token = welcome.resume_token
        if welcome.heartbeat_s > 0:
            self.heartbeat_s = welcome.heartbeat_s
        if welcome.HasField("session"):
            self._see(convert.session_from_proto(welcome.session))
        for item in self._pending.values():
            item.resent = True
        return [item.message for item in self._pending.values()]

    def _on_assign(self, assign: pb.Assign, now: float) -> None:
        query = convert.query_from_proto(assign)
        known = self.held.get(query.number)
        self.held[query.number] = query
        self.finished = ""
        if (known is not None and known.lease_id == query.lease_id) or self._is_pending(
            query.number
        ):
            return  # the same lease again after a reconnect, or its answer is on the way
        if query.number not in self.inbox:
            self.inbox.append(query.number)
        if self._answered_at is not None:
            self.per_query_s.append(now - self._answered_at)
            self._answered_at = None

    def _on_ack(self, ack: pb.Ack) -> None:
        if ack.HasField("counts"):
            self.counts = convert.counts_from_proto(ack.counts)
        item = self._pending.pop(ack.answer_id or f"skip {ack.query}", None)
        if item is not None:
            self._forget(item.query)
            item.future.set_result(convert.ack_from_proto(ack))
        elif not ack.answer_id and not ack.query:
            self._on_extended(ack)

    def _on_extended(self, ack: pb.Ack) -> None:
        lost = set(ack.lost_lease_ids)
        for number, query in list(self.held.items()):
            if query.lease_id in lost:
                self._forget(number)
            elif ack.HasField("lease_expire_time"):
                expires = convert.time_from_proto(ack.lease_expire_time)
                self.held[number] = replace(query, lease_expires=expires)

    def _on_reject(self, reject: pb.Reject) -> None:
        error = from_status(reject.status)
        item = self._pending.pop(reject.answer_id or f"skip {reject.query}", None)
        if item is None:
            return  # an Extend or Release: what it names is gone, which Revoke or Ack also say
        held = self.held.get(item.query)
        if held is not None and held.lease_id != item.lease_id:
            self.inbox.append(item.query)  # leased to us anew in the meantime: ask again
        elif error.reason in _QUERY_IS_GONE:
            self._forget(item.query)
        if item.resent and item.message.HasField("skip") and error.reason == "LEASE_LOST":
            # The first one got through, or the lease ended: either way it is not ours any more.
            item.future.set_result(Ack("", item.query, applied=False, counts=self.counts))
        else:
            item.future.set_exception(error)

    def _on_revoke(self, revoke: pb.Revoke) -> None:
        held = self.held.get(revoke.query)
        if held is not None and held.lease_id == revoke.lease_id:
            self._forget(revoke.query)

    def _see(self, session: Session) -> None:
        self.session = session
        self.counts = session.counts
        if session.state.ended and not self.finished:
            self.finished = session.state.name

    def _forget(self, number: int) -> None:
        self.held.pop(number, None)
        if number in self.inbox:
            self.inbox.remove(number)
