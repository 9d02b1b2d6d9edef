"""The labelling dialogue from the client's side: a state machine without I/O.

The labeler's intents go in and messages come out; the server's messages go in and what must be sent
because of them comes out. Whoever uses a `Dialogue` holds one lock around every call. A `Dialogue`
outlives its streams: what has no Ack is sent again on the next one, and a repeated item has one
effect. The request id of an item tells which Ack or Reject is its own.

A query is in one of these states::

    offered   leased to this labeler; the caller has not seen it yet
    taken     the caller has seen it
    sent      its answer or skip has no Ack yet
    gone      settled, given back or lost

Events move it between them; a test executes this table::

    event                                  from             to
    Assign                                 gone             offered
    Assign of the same lease               offered          offered
    Assign of the same lease               taken            taken
    Assign of the same lease               sent             sent
    Assign of another lease                offered, taken   offered
    Assign of another lease                sent             sent
    take                                   offered          taken
    answer                                 offered, taken   sent
    skip                                   offered, taken   sent
    Ack                                    sent             gone
    Ack of a skip, leased anew meanwhile   sent             offered
    Reject, lease lost                     sent             gone
    Reject, other reason                   sent             taken
    Reject, leased anew meanwhile          sent             offered
    release                                offered, taken   gone
    Revoke                                 offered, taken   gone
    Revoke                                 sent             sent
    Ack of Extend, lease lost              offered, taken   gone
    Ack of Extend, lease lost              sent             sent
    Finished                               offered, taken   gone
    Finished                               sent             sent

`Dialogue.receive` dispatches the messages of the server.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace

from svddtune.client.dialogue.holding import Holding, QueryKey
from svddtune.client.dialogue.pending import Item, Pending
from svddtune.client.dialogue.served import Served
from svddtune.client.errors import NotFound, SvddtuneError
from svddtune.client.types import Ack, Query, SkipMode, Verdict
from svddtune.client.wire import convert
from svddtune.client.wire.status import from_status
from svddtune.v1 import oracle_pb2 as pb
from svddtune.version import __version__

PROTOCOL_VERSION = 1
# The shortest lease is half of the session's lease_seconds; three heartbeats fit into it.
_BEATS_PER_LEASE_S = 6.0
# After these reasons the query is no longer this labeler's; after all others it can answer again.
_QUERY_IS_GONE = {
    "LEASE_LOST",
    "UNKNOWN_QUERY",
    "ALREADY_ANSWERED",
    "SESSION_NOT_ACTIVE",
    "SESSION_NOT_FOUND",
    "LABELER_WITHDRAWN",
}


class Dialogue:
    """What one labeler knows of its dialogue about some sessions.

    Parameters
    ----------
    sessions : sequence of str
        Resource names; none stands for any session, those created later included.
    labeler : str
        Who labels.
    kind : str
        "human" or "automated".
    credit : int
        Queries to hold at once over all sessions.
    provenance : str
        The rule behind the verdicts, sent with each answer; empty for somebody's judgement.
    resume_token : str
        Of an earlier dialogue of this labeler, whose queries are then assigned again.
    extend : bool
        False leaves leases to run out.

    Attributes
    ----------
    served : Served
        The sessions, as they were last heard of.
    welcomed : bool
        Whether a stream is open and its Welcome has arrived.
    draining : bool
        Whether the server has asked for another stream.
    per_query_s : list of float
        Seconds from each answer to the Assign that came next.
    """

    def __init__(
        self,
        sessions: Sequence[str],
        *,
        labeler: str,
        kind: str,
        credit: int,
        provenance: str = "",
        resume_token: str = "",
        extend: bool = True,
        tags: Sequence[str] = (),
    ) -> None:
        self.served = Served(sessions)
        self.labeler = labeler
        self.credit = credit
        self.resume_token = resume_token
        self.welcomed = False
        self.draining = False
        self.per_query_s: list[float] = []
        self._kind = convert.choice(convert.LABELER_KINDS, kind, "kind")
        self.provenance = provenance
        self._tags = tuple(tags)
        self._extend = extend
        self._asked_heartbeat_s = 20.0
        self._holding = Holding()
        self._pending = Pending()
        self._answered_at: float | None = None

    # What the labeler says

    def hello(self) -> pb.ConverseRequest:
        """Return the first message of a stream; the dialogue now expects a Welcome."""
        self.welcomed = self.draining = False
        return pb.ConverseRequest(
            hello=pb.Hello(
                min_protocol_version=PROTOCOL_VERSION,
                max_protocol_version=PROTOCOL_VERSION,
                client_name="svddtune-python",
                client_version=__version__,
                labeler=self.labeler,
                kind=self._kind,
                tags=self._tags,
                sessions=self.served.existing(),
                resume_token=self.resume_token,
                credit=self.credit,
            )
        )

    def answer(
        self,
        query: Query,
        verdict: Verdict,
        now: float,
        *,
        confidence: float | None = None,
        source_reference: str = "",
        answer_id: str = "",
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that answers `query`."""
        message = pb.Answer(
            answer_id=answer_id or uuid.uuid4().hex,
            session=self.served.name(query.session),
            query=query.number,
            lease_id=query.lease_id,
            observation_id=query.observation_id,
            verdict=convert.VERDICTS[verdict],
            confidence=confidence,
            source_reference=source_reference,
            provenance=self.provenance,
        )
        key = (message.session, "answer", message.answer_id)
        sent = self._pending.add(key, pb.ConverseRequest(answer=message), query)
        self._answered_at = now
        return sent

    def label(
        self,
        observation_id: str,
        verdict: Verdict,
        *,
        session: str = "",
        confidence: float | None = None,
        source_reference: str = "",
        answer_id: str = "",
        replace: bool = False,
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that labels an observation unasked, or corrects one's own vote."""
        message = pb.Answer(
            answer_id=answer_id or uuid.uuid4().hex,
            session=self.served.name(session),
            observation_id=observation_id,
            verdict=convert.VERDICTS[verdict],
            confidence=confidence,
            source_reference=source_reference,
            provenance=self.provenance,
            replace=replace,
        )
        key = (message.session, "answer", message.answer_id)
        return self._pending.add(key, pb.ConverseRequest(answer=message))

    def retract(
        self, observation_id: str, *, session: str = "", answer_id: str = "", of_labeler: str = ""
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that withdraws a vote; one's own unless another's is named."""
        message = pb.Retract(
            answer_id=answer_id or uuid.uuid4().hex,
            session=self.served.name(session),
            observation_id=observation_id,
            of_labeler=of_labeler,
        )
        key = (message.session, "answer", message.answer_id)
        return self._pending.add(key, pb.ConverseRequest(retract=message))

    def skip(self, query: Query, mode: SkipMode) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that skips `query`."""
        message = pb.Skip(
            session=self.served.name(query.session),
            query=query.number,
            lease_id=query.lease_id,
            mode=convert.SKIP_MODES[mode],
        )
        key = (message.session, "skip", message.lease_id)
        return self._pending.add(key, pb.ConverseRequest(skip=message), query)

    def release(self, query: Query) -> pb.ConverseRequest:
        """Return the message that gives `query` back."""
        self._holding.drop(self._key(query))
        release = pb.Release(session=self.served.name(query.session), lease_ids=[query.lease_id])
        key = (release.session, "release", query.lease_id)
        message, _ = self._pending.add(key, pb.ConverseRequest(release=release))
        return message

    def set_credit(self, credit: int) -> pb.ConverseRequest:
        """Return the message that changes how many queries are held at once."""
        self.credit = credit
        return pb.ConverseRequest(credit=pb.Credit(queries=credit))

    def heartbeat(self) -> pb.ConverseRequest | None:
        """Return the message that keeps the leases, None where there is nothing to keep."""
        if not len(self._holding) or not self._extend:
            return None
        return pb.ConverseRequest(extend=pb.Extend(session=self.served.only))

    # What the server says

    def receive(self, response: pb.ConverseResponse, now: float) -> list[pb.ConverseRequest]:
        """Take one message in; return what is to be sent because of it."""
        match response.WhichOneof("message"):
            case "welcome":
                return self._on_welcome(response.welcome)
            case "assign":
                self._on_assign(response.assign, now)
            case "ack":
                self._on_ack(response.ack)
            case "reject":
                self._on_reject(response.reject)
            case "revoke":
                self._on_revoke(response.revoke)
            case "progress":
                self.served.see(convert.session_from_proto(response.progress.session))
            case "drain":
                self.draining = True
            case "finished":
                self._on_finished(response.finished)
        return []

    def _on_welcome(self, welcome: pb.Welcome) -> list[pb.ConverseRequest]:
        self.welcomed = True
        self.resume_token = welcome.resume_token
        if welcome.heartbeat_seconds > 0:
            self._asked_heartbeat_s = welcome.heartbeat_seconds
        if welcome.HasField("session"):
            self.served.see(convert.session_from_proto(welcome.session))
        return [*self._pending.again(), *self._reclaim()]

    def _reclaim(self) -> list[pb.ConverseRequest]:
        """Return messages that name what is held: the server reports which leases are lost."""
        held: dict[str, list[str]] = {}
        for key in self._holding:
            if not self._pending.concerns(*key):
                held.setdefault(key[0], []).append(self._holding.lease_id(key))
        return [
            pb.ConverseRequest(extend=pb.Extend(session=session, lease_ids=lease_ids))
            for session, lease_ids in held.items()
        ]

    def _on_assign(self, assign: pb.Assign, now: float) -> None:
        query = convert.query_from_proto(assign)
        key = self._key(query)
        if self._pending.releases(key[0], query.lease_id):
            return
        known = self._holding.lease_id(key) == query.lease_id
        self._holding.put(key, query)
        self.served.ask_again(key[0])
        if known or self._pending.concerns(*key):
            return
        self._holding.offer(key)
        if self._answered_at is not None:
            self.per_query_s.append(now - self._answered_at)
            self._answered_at = None

    def _on_ack(self, ack: pb.Ack) -> None:
        session = self.served.name(ack.session, guess=True)
        if ack.HasField("counts"):
            self.served.count(session, convert.counts_from_proto(ack.counts))
        self._holding.extend(
            {one.lease_id: convert.time_from_proto(one.expire_time) for one in ack.extended},
            ack.lost_lease_ids,
        )
        item = self._pending.pop(ack.request_id)
        if item is None:  # an Extend or a Credit
            return
        key = (item.key[0], item.query)
        if item.message.HasField("skip") and self._leased_anew(key, item):
            self._holding.offer(key)
        else:
            self._holding.drop(key)
        item.future.set_result(replace(convert.ack_from_proto(ack), session=session))

    def _on_reject(self, reject: pb.Reject) -> None:
        error = from_status(reject.status)
        item = self._pending.pop(reject.request_id)
        if item is None:  # an Extend or a Credit
            return
        key = (item.key[0], item.query)
        if self._leased_anew(key, item):
            self._holding.offer(key)
        elif error.reason in _QUERY_IS_GONE:
            self._holding.drop(key)
        item.future.set_exception(error)

    def _on_revoke(self, revoke: pb.Revoke) -> None:
        key = (self.served.name(revoke.session, guess=True), revoke.query)
        self._holding.lose(key, revoke.lease_id, convert.revoke_reason(revoke.reason))

    def _on_finished(self, finished: pb.Finished) -> None:
        name = self.served.name(finished.session.name, guess=True)
        if finished.HasField("session") and finished.reason != pb.FINISH_REASON_DELETED:
            self.served.see(convert.session_from_proto(finished.session))
        if name:
            self._end(name, convert.finish_reason(finished.reason))

    def _leased_anew(self, key: QueryKey, item: Item) -> bool:
        """Return whether the query is held by another lease than the one `item` is about."""
        return self._holding.lease_id(key) not in ("", item.lease_id)

    def survives(self, error: SvddtuneError) -> bool:
        """Return whether the dialogue goes on after a stream that ended with `error`.

        It goes on without a session that existed and was deleted.
        """
        name = f"sessions/{error.metadata.get('session', '').removeprefix('sessions/')}"
        if error.reason != "SESSION_NOT_FOUND" or self.served.get(name) is None:
            return False
        self._end(name, "DELETED")
        return True

    def fail(self, error: SvddtuneError) -> None:
        """End everything that has no Ack yet, with `error`."""
        self._pending.fail(error)

    def _end(self, session: str, reason: str) -> None:
        self._holding.lose_session(session)
        self.served.finish(session, reason)
        if reason == "DELETED":
            self._pending.fail(_deleted(session), lambda name: name == session)

    # What is known

    @property
    def finished(self) -> str:
        """Why nothing more is asked in all sessions named; the reason of the last one of them."""
        return self.served.finished

    @property
    def idle(self) -> bool:
        """True where nothing waits for an Ack."""
        return not self._pending

    @property
    def over(self) -> bool:
        """True while no stream is needed: nothing more is asked and nothing waits."""
        return bool(self.finished) and self.idle

    def take(self) -> Query | None:
        """Return the next query that the caller has not seen."""
        return self._holding.take()

    def is_open(self, query: Query) -> bool:
        """Return whether `query` is still with this labeler and not answered."""
        key = self._key(query)
        return key in self._holding and not self._pending.concerns(*key)

    def lost_reason(self, query: Query) -> str:
        """Return why the labeler lost the lease of `query`; empty where the labeler did not."""
        return self._holding.lost_reason(query.lease_id)

    @property
    def unsettled(self) -> list[Query]:
        """Queries that the caller has taken and neither answered nor skipped."""
        taken = self._holding.taken()
        return [query for key, query in taken if not self._pending.concerns(*key)]

    @property
    def heartbeat_s(self) -> float:
        """Seconds between heartbeats: what the server asked for, or a held lease needs."""
        leases_s = map(self.served.lease_seconds, self._holding.sessions)
        needed_s = [
            lease_seconds / _BEATS_PER_LEASE_S for lease_seconds in leases_s if lease_seconds > 0
        ]
        return min([self._asked_heartbeat_s, *needed_s])

    def _key(self, query: Query) -> QueryKey:
        return self.served.name(query.session), query.number


def _deleted(session: str) -> NotFound:
    return NotFound(
        f"{session} was deleted",
        reason="SESSION_NOT_FOUND",
        metadata={"session": session.removeprefix("sessions/")},
    )
