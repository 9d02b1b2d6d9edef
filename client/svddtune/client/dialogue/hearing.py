"""What the server says in a dialogue, and what is known of it: the half without intent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from svddtune.client.dialogue.holding import Holding, Memory, QueryKey
from svddtune.client.dialogue.pending import Item, Pending
from svddtune.client.dialogue.served import Served
from svddtune.client.errors import NotFound, SvddtuneError, from_status
from svddtune.client.types import Ack, Query
from svddtune.client.wire import convert
from svddtune.v1 import oracle_pb2 as pb

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


class Hearing:
    """What one labeler has heard about its sessions, its queries and its answers."""

    def __init__(self, sessions: Sequence[str], *, resume_token: str) -> None:
        self.served = Served(sessions)
        self.resume_token = resume_token
        self.welcomed = False
        self.draining = False
        self.per_query_s: list[float] = []
        self._asked_heartbeat_s = 20.0
        self._holding = Holding()
        self._pending = Pending()
        self._answered_at: float | None = None
        # Release has no Ack of its own: those that found no stream are said on the next one, and
        # a lease that comes back although it was given back is given back again.
        self._unsent: list[pb.ConverseRequest] = []
        self._given_back: Memory[None] = Memory()
        # Leases asked for on a new stream, by session, until the server says which are left.
        self._reclaimed: dict[str, list[QueryKey]] = {}

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

    @property
    def heartbeat_s(self) -> float:
        """Seconds between heartbeats: what the server asked for, or a held lease needs."""
        leases_s = map(self.served.lease_s, self._holding.sessions)
        needed_s = [lease_s / _BEATS_PER_LEASE_S for lease_s in leases_s if lease_s > 0]
        return min([self._asked_heartbeat_s, *needed_s])

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
        return [*self._pending.again(), *self._reclaim(), *unsent]

    def _reclaim(self) -> list[pb.ConverseRequest]:
        """Name what is held, so that the server says what of it is lost."""
        self._reclaimed = {}
        for key in self._holding:
            if not self._pending.concerns(*key):
                self._reclaimed.setdefault(key[0], []).append(key)
        return [
            pb.ConverseRequest(
                extend=pb.Extend(session=session, lease_ids=map(self._holding.lease_id, keys))
            )
            for session, keys in self._reclaimed.items()
        ]

    def _on_assign(self, assign: pb.Assign, now: float) -> list[pb.ConverseRequest]:
        query = convert.query_from_proto(assign)
        if query.lease_id in self._given_back:
            return [release_of(query.session, query.lease_id)]
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
            key = (session, item.query)
            if item.message.HasField("skip") and self._holding.lease_id(key) not in (
                "",
                item.lease_id,
            ):
                self._holding.offer(key)  # leased to us anew in the meantime: ask again
            else:
                self._holding.drop(key)
            item.future.set_result(replace(convert.ack_from_proto(ack), session=session))
        elif not ack.answer_id and not ack.query:
            self._reclaimed.pop(session, None)
            stamp = ack.lease_expire_time if ack.HasField("lease_expire_time") else None
            expires = convert.time_from_proto(stamp) if stamp else None
            self._holding.extend(session, ack.lost_lease_ids, expires)

    def _on_reject(self, reject: pb.Reject) -> None:
        error = from_status(reject.status)
        session = self.served.name(reject.session, guess=True)
        item = self._pending.pop((session, reject.answer_id or reject.query))
        if item is None:  # an Extend or Release: the first one of a stream names what is held
            for key in self._reclaimed.pop(session, []):
                self._holding.lose(key, self._holding.lease_id(key), error.reason)
            return
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
        if reason == "DELETED":
            self._pending.fail(_deleted(session), lambda name: name == session)


def release_of(session: str, lease_id: str) -> pb.ConverseRequest:
    """Return the message that gives a lease back."""
    return pb.ConverseRequest(release=pb.Release(session=session, lease_ids=[lease_id]))


def _deleted(session: str) -> NotFound:
    return NotFound(
        f"{session} was deleted",
        reason="SESSION_NOT_FOUND",
        metadata={"session": session.removeprefix("sessions/")},
    )


def _is_old_skip(item: Item) -> bool:
    return item.resent and item.message.HasField("skip")
