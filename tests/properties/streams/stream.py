"""One Converse call of a labeler, which checks each message that it receives."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from math import inf

import grpc
from tests.properties.streams.transcript import (
    ALL,
    Item,
    LeasePeriod,
    PossibleEnd,
    Reply,
    SentItem,
    Transcript,
)

from svddtune.client.wire import convert
from svddtune.v1 import oracle_pb2, oracle_pb2_grpc

# Redis has a resolution of milliseconds.
TICK_S = 0.002


class Stream:
    """One stream and its client's knowledge: open queries, unanswered items, finished sessions."""

    def __init__(
        self,
        stub: "oracle_pb2_grpc.OracleServiceAsyncStub",
        hello: oracle_pb2.Hello,
        transcripts: Mapping[str, Transcript],
    ) -> None:
        self.labeler, self._transcripts = hello.labeler, transcripts
        self.sessions, self._resumes = list(hello.sessions), bool(hello.resume_token)
        self.welcome: oracle_pb2.Welcome | None = None
        # By lease id.
        self.open: dict[str, oracle_pb2.Assign] = {}
        self.periods: dict[str, LeasePeriod] = {}
        # Finished sessions, with the reason.
        self.finished: dict[str, str] = {}
        self.error: grpc.aio.AioRpcError | None = None
        self.drained = self.ended = False
        # Time of the first reply to an item. Resumed leases come before it.
        self.replied_at = inf
        self.credit = hello.credit
        # The highest credit that may be in force at the server.
        self._most = hello.credit
        self._lowered_before = 0
        self._sent: deque[tuple[SentItem, list[PossibleEnd]]] = deque()
        self._count = self._replies = 0
        # The client cancelled the stream, or ended it in order.
        self._broken_off = self.left = False
        self._news = asyncio.Event()
        self.history: deque[object] = deque(maxlen=30)
        self._outbox: asyncio.Queue[oracle_pb2.ConverseRequest | None] = asyncio.Queue()
        self._outbox.put_nowait(oracle_pb2.ConverseRequest(hello=hello))
        self._call = stub.Converse(self._requests())

    async def _requests(self) -> AsyncIterator[oracle_pb2.ConverseRequest]:
        while request := await self._outbox.get():
            self.history.append(request)
            yield request

    def recent_messages(self) -> str:
        """The latest messages, for the report of a failure."""
        lines = [f"{self.labeler} {self.welcome.resume_token if self.welcome else ''}"]
        for one in self.history:
            # Features and the session's config are cut off.
            text = " ".join(str(one).split())
            lines.append(f"{type(one).__name__}: {text[:300]}")
        return "\n".join(lines)

    @property
    def holder(self) -> str:
        """The holder's name in Redis."""
        assert self.welcome is not None
        return f"{self.labeler}/{self.welcome.resume_token}"

    @property
    def unanswered(self) -> list[SentItem]:
        """Items without a reply, oldest first."""
        return [sent for sent, _ in self._sent]

    # Requests

    def send(self, item: Item, session: str, row: int = ALL, *, reopens: bool = False) -> None:
        """Send an item. It may concern a row, and may open the row's query again (``reopens``)."""
        transcript = self._transcripts[session]
        sent = SentItem(item, session, self.labeler, time.time())
        possible_ends: list[PossibleEnd] = []
        if isinstance(item, oracle_pb2.Release):
            possible_ends.append(transcript.possible_end(ALL, self.holder, sent.sent_at))
        elif row != ALL:
            possible_ends.append(
                transcript.possible_end(row, "" if reopens else self.labeler, sent.sent_at)
            )
        if isinstance(item, oracle_pb2.Answer | oracle_pb2.Retract):
            transcript.answers[item.answer_id].append(sent)
        self._sent.append((sent, possible_ends))
        self._count += 1
        kind = type(item).__name__.lower()
        self._outbox.put_nowait(
            oracle_pb2.ConverseRequest(request_id=str(self._count), **{kind: item})  # type: ignore[arg-type]
        )

    def set_credit(self, credit: int) -> None:
        """Change the number of queries to hold at once."""
        self.credit = credit
        self._most = max(self._most, credit)
        self._lowered_before = self._count
        self._outbox.put_nowait(
            oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=credit))
        )

    def leave(self, *, bye: bool = True) -> None:
        """End the requests, with or without Bye, so that the service releases all leases."""
        self.left = True
        for transcript in self._transcripts.values():
            transcript.possible_end(ALL, self.holder, time.time())
        if bye:
            self._outbox.put_nowait(oracle_pb2.ConverseRequest(bye=oracle_pb2.Bye()))
        self._outbox.put_nowait(None)

    def break_off(self) -> None:
        """Cancel the call."""
        self._broken_off = True
        self._call.cancel()

    async def wait_for_message(self, within_s: float) -> None:
        """Return once a message has come, or after `within_s` seconds."""
        self._news.clear()
        try:
            async with asyncio.timeout(within_s):
                await self._news.wait()
        except TimeoutError:
            pass

    # Responses

    async def listen(self) -> None:
        """Read until the end of the stream."""
        try:
            async for response in self._call:
                self.history.append(response)
                self._note(response)
                self._news.set()
        except AssertionError as error:
            error.add_note(self.recent_messages())
            raise
        except grpc.aio.AioRpcError as error:
            self.error = error
        except asyncio.CancelledError:
            if not self._broken_off:
                raise
        finally:
            self.ended = True
            self._news.set()
            self._outbox.put_nowait(None)

    def _note(self, response: oracle_pb2.ConverseResponse) -> None:
        assert not self.drained, "something after Drain"
        match response.WhichOneof("message"):
            case "welcome":
                assert self.welcome is None
                self.welcome = response.welcome
            case "assign":
                self._assigned(response.assign)
            case "ack":
                self._replied(response.ack)
            case "reject":
                self._replied(response.reject)
            case "revoke":
                self._revoked(response.revoke)
            case "progress":
                assert response.progress.session.name in self._transcripts
            case "finished":
                name = response.finished.session.name
                assert name not in self.finished, "finished twice"
                self.finished[name] = convert.finish_reason(response.finished.reason)
                assert not [one for one in self.open.values() if one.session == name]
            case "drain":
                self.drained = True

    def _assigned(self, assign: oracle_pb2.Assign) -> None:
        assert self.welcome is not None, "a query before Welcome"
        assert assign.session in (self.sessions or self._transcripts)
        assert assign.session not in self.finished
        assert assign.lease_id not in self.open, "assigned twice"
        queries = {(one.session, one.query) for one in self.open.values()}
        assert (assign.session, assign.query) not in queries, "two leases on one query"
        assert int(assign.observation_id) == assign.row
        self.open[assign.lease_id] = assign
        transcript = self._transcripts[assign.session]
        # Resumed leases come back whatever the credit. A stream that serves all sessions may get
        # some of them later than others.
        if assign.lease_id not in transcript.leases and not (self._resumes and not self.sessions):
            assert len(self.open) <= self._most, f"{len(self.open)} open, credit {self._most}"
        period = transcript.assigned(assign, self.labeler, self.holder, time.time())
        self.periods[assign.lease_id] = period

    def _replied(self, reply: Reply) -> None:
        sent, possible_ends = self._sent.popleft()
        sent.reply = reply
        item, now = sent.item, time.time()
        for ending in possible_ends:
            ending.end = now
        assert reply.answer_id == getattr(item, "answer_id", "")
        assert reply.session == sent.session
        self._replies += 1
        assert reply.request_id == str(self._replies)
        self.replied_at = min(self.replied_at, now)
        if self._replies > self._lowered_before:
            self._most = self.credit
        if isinstance(reply, oracle_pb2.Reject):
            assert reply.query == getattr(item, "query", 0)
            assert not isinstance(item, oracle_pb2.Extend | oracle_pb2.Release), reply
            return
        if isinstance(item, oracle_pb2.Answer | oracle_pb2.Skip):
            assert item.query in (0, reply.query)
            self._close(lambda one: one.query == reply.query, sent.session)
        elif isinstance(item, oracle_pb2.Release):
            named = item.lease_ids
            self._close(lambda one: not named or one.lease_id in named, sent.session)
        elif isinstance(item, oracle_pb2.Extend):
            extended = {one.lease_id: one.expire_time for one in reply.extended}
            lost = set(reply.lost_lease_ids)
            if item.lease_ids:
                assert extended.keys() | lost == set(item.lease_ids)
                assert not extended.keys() & lost
            for lease_id, expire_time in extended.items():
                # (A lease that comes back after a break may not have been assigned yet.)
                if period := self.periods.get(lease_id):
                    period.end = max(period.end, expire_time.ToMilliseconds() / 1000)

    def _close(self, which: Callable[[oracle_pb2.Assign], bool], session: str) -> None:
        self.open = {
            lease_id: one
            for lease_id, one in self.open.items()
            if one.session != session or not which(one)
        }

    def _revoked(self, revoke: oracle_pb2.Revoke) -> None:
        one = self.open.pop(revoke.lease_id)
        assert (one.session, one.query) == (revoke.session, revoke.query)
        assert revoke.reason
        if revoke.reason == oracle_pb2.REVOKE_REASON_EXPIRED:
            assert time.time() >= self.periods[revoke.lease_id].end - TICK_S, "too early"
