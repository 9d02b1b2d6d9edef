"""The oracle dialogue from the client's side, without I/O: messages in, messages out.

Who uses it holds one lock around every call. A `Dialogue` outlives its streams: what was not
acknowledged is sent again on the next one, with the same answer id, which has one effect.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace

from svddtune.client import convert
from svddtune.client.errors import SvddtuneError, from_status
from svddtune.client.holding import Holding, QueryKey
from svddtune.client.memory import Memory
from svddtune.client.pending import Item, ItemKey, Pending
from svddtune.client.served import Served
from svddtune.client.types import Ack, Query, SkipMode, Verdict
from svddtune.v1 import oracle_pb2 as pb

PROTOCOL_VERSION = 1
# The shortest lease is half of the session's lease_s; three beats in it.
_BEATS_PER_LEASE_S = 6.0
# After these the query is no longer ours to answer; after all others it is, better this time.
_QUERY_IS_GONE = {
    "LEASE_LOST",
    "UNKNOWN_QUERY",
    "ALREADY_ANSWERED",
    "SESSION_NOT_ACTIVE",
    "SESSION_NOT_FOUND",
    "LABELER_WITHDRAWN",
}


class Dialogue:
    """What one labeler knows of its dialogue about some sessions, or about any (none named).

    A query is held from its Assign until its answer is acknowledged, it is skipped, given back
    or revoked. With `extend` False leases are left to run out.
    """

    def __init__(
        self,
        sessions: Sequence[str],
        *,
        labeler: str,
        kind: str,
        credit: int,
        resume_token: str = "",
        extend: bool = True,
    ) -> None:
        self.served = Served(sessions)
        self.labeler = labeler
        self.credit = credit
        self.resume_token = resume_token
        self.welcomed = False
        self.draining = False
        self.per_query_s: list[float] = []
        self._kind = convert.choice(convert.LABELER_KINDS, kind, "kind")
        self._extend = extend
        self._asked_heartbeat_s = 20.0
        self._holding = Holding()
        self._pending = Pending()
        self._answered_at: float | None = None
        # Release has no Ack of its own: those that found no stream are said on the next one, and
        # a lease that comes back although it was given back is given back again.
        self._unsent: list[pb.ConverseRequest] = []
        self._given_back: Memory[None] = Memory()

    # To the server

    def hello(self) -> pb.ConverseRequest:
        """Return the first message of a stream, and expect a Welcome."""
        self.welcomed = self.draining = False
        return pb.ConverseRequest(
            hello=pb.Hello(
                protocol_version=PROTOCOL_VERSION,
                labeler=self.labeler,
                kind=self._kind,
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
            source_reference=source_reference,
        )
        key = (message.session, message.answer_id)
        sent = self._say(key, pb.ConverseRequest(answer=message), query)
        self._answered_at = now
        return sent

    def label(
        self,
        observation_id: str,
        verdict: Verdict,
        *,
        session: str = "",
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
            source_reference=source_reference,
            replace=replace,
        )
        key = (message.session, message.answer_id)
        return self._say(key, pb.ConverseRequest(answer=message))

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
        key = (message.session, message.answer_id)
        return self._say(key, pb.ConverseRequest(retract=message))

    def skip(self, query: Query, mode: SkipMode) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that skips `query`."""
        message = pb.Skip(
            session=self.served.name(query.session),
            query=query.number,
            lease_id=query.lease_id,
            mode=convert.SKIP_MODES[mode],
        )
        key = (message.session, message.query)
        return self._say(key, pb.ConverseRequest(skip=message), query)

    def release(self, query: Query) -> pb.ConverseRequest:
        """Return the message that gives `query` back."""
        self._holding.drop(self._key(query))
        self._given_back.note(query.lease_id, None)
        message = _release(self.served.name(query.session), query.lease_id)
        if not self.welcomed:
            self._unsent.append(message)
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

    @property
    def heartbeat_s(self) -> float:
        """Seconds between heartbeats: what the server asked for, or a held lease needs."""
        leases_s = map(self.served.lease_s, self._holding.sessions)
        needed_s = [lease_s / _BEATS_PER_LEASE_S for lease_s in leases_s if lease_s > 0]
        return min([self._asked_heartbeat_s, *needed_s])

    # From the server

    def receive(self, response: pb.ConverseResponse, now: float) -> list[pb.ConverseRequest]:
        """Take one message in; return what is to be sent because of it."""
        kind = response.WhichOneof("message")
        if kind == "welcome":
            return self._on_welcome(response.welcome)
        if kind == "assign":
            return self._on_assign(response.assign, now)
        if kind == "ack":
            self._on_ack(response.ack)
        elif kind == "reject":
            self._on_reject(response.reject)
        elif kind == "revoke":
            self._on_revoke(response.revoke)
        elif kind == "progress":
            self.served.see(convert.session_from_proto(response.progress.session))
        elif kind == "drain":
            self.draining = True
        elif kind == "finished":
            self._on_finished(response.finished)
        return []

    def fail(self, error: SvddtuneError) -> None:
        """End everything that waits, with `error`."""
        self._pending.fail(error)

    def survives(self, error: SvddtuneError) -> bool:
        """Return whether the dialogue goes on after a stream that ended with `error`.

        It does without a session that was there and is deleted by now.
        """
        name = f"sessions/{error.metadata.get('session', '').removeprefix('sessions/')}"
        if error.reason != "SESSION_NOT_FOUND" or self.served.get(name) is None:
            return False
        self._end(name, "DELETED")
        self._pending.fail(error, lambda session: session == name)
        return True

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
        """Return why the lease of `query` ended without our doing; empty where it did not."""
        return self._holding.lost_reason(query.lease_id)

    @property
    def unsettled(self) -> list[Query]:
        """Queries that the caller has taken and neither answered nor skipped."""
        taken = self._holding.taken()
        return [query for key, query in taken if not self._pending.concerns(*key)]

    def _say(
        self, key: ItemKey, message: pb.ConverseRequest, query: Query | None = None
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        return message, self._pending.add(key, message, query)

    def _key(self, query: Query) -> QueryKey:
        return self.served.name(query.session), query.number

    def _on_welcome(self, welcome: pb.Welcome) -> list[pb.ConverseRequest]:
        self.welcomed = True
        self.resume_token = welcome.resume_token
        if welcome.heartbeat_s > 0:
            self._asked_heartbeat_s = welcome.heartbeat_s
        if welcome.HasField("session"):
            self.served.see(convert.session_from_proto(welcome.session))
        unsent, self._unsent = self._unsent, []
        return [*self._pending.again(), *unsent]

    def _on_assign(self, assign: pb.Assign, now: float) -> list[pb.ConverseRequest]:
        query = convert.query_from_proto(assign)
        if query.lease_id in self._given_back:
            return [_release(query.session, query.lease_id)]
        key = self._key(query)
        known = self._holding.lease_id(key) == query.lease_id
        self._holding.put(key, query)
        self.served.ask_again(key[0])
        if known or self._pending.concerns(*key):
            return []  # the same lease again after a reconnect, or its answer is on the way
        self._holding.offer(key)
        if self._answered_at is not None:
            self.per_query_s.append(now - self._answered_at)
            self._answered_at = None
        return []

    def _on_ack(self, ack: pb.Ack) -> None:
        session = self.served.name(ack.session, guess=True)
        if ack.HasField("counts"):
            self.served.count(session, convert.counts_from_proto(ack.counts))
        item = self._pending.pop((session, ack.answer_id or ack.query))
        if item is not None:
            self._holding.drop((session, item.query))
            item.future.set_result(replace(convert.ack_from_proto(ack), session=session))
        elif not ack.answer_id and not ack.query:
            stamp = ack.lease_expire_time if ack.HasField("lease_expire_time") else None
            expires = convert.time_from_proto(stamp) if stamp else None
            self._holding.extend(session, ack.lost_lease_ids, expires)

    def _on_reject(self, reject: pb.Reject) -> None:
        error = from_status(reject.status)
        session = self.served.name(reject.session, guess=True)
        item = self._pending.pop((session, reject.answer_id or reject.query))
        if item is None:
            return  # an Extend or Release: what it names is gone, which Revoke or Ack also say
        key = (session, item.query)
        lease_id = self._holding.lease_id(key)
        if lease_id not in ("", item.lease_id):
            self._holding.offer(key)  # leased to us anew in the meantime: ask again
        elif error.reason in _QUERY_IS_GONE:
            self._holding.drop(key)
        if _is_old_skip(item) and error.reason == "LEASE_LOST":
            # The first one got through, or the lease ended: either way it is not ours any more.
            counts = self.served.counts(session)
            item.future.set_result(Ack("", item.query, False, counts, session=session))
        else:
            item.future.set_exception(error)

    def _on_revoke(self, revoke: pb.Revoke) -> None:
        key = (self.served.name(revoke.session, guess=True), revoke.query)
        self._holding.lose(key, revoke.lease_id, revoke.reason)

    def _on_finished(self, finished: pb.Finished) -> None:
        name = self.served.name(finished.session.name, guess=True)
        if finished.HasField("session") and finished.reason != "DELETED":
            self.served.see(convert.session_from_proto(finished.session))
        if name:
            self._end(name, finished.reason or "FINISHED")

    def _end(self, session: str, reason: str) -> None:
        self._holding.lose_session(session)
        self.served.finish(session, reason)


def _release(session: str, lease_id: str) -> pb.ConverseRequest:
    return pb.ConverseRequest(release=pb.Release(session=session, lease_ids=[lease_id]))


def _is_old_skip(item: Item) -> bool:
    return item.resent and item.message.HasField("skip")
