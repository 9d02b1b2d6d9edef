"""One Converse call of a labeler; whatever comes back on it is checked as it comes."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from math import inf

import grpc
from tests.properties.streams.ledger import ALL, Account, Item, Reply, Said, Tenure, Touch

from svddtune.v1 import oracle_pb2, oracle_pb2_grpc

# Redis tells milliseconds.
TICK_S = 0.002
REASONS = ("EXPIRED", "ANSWERED_BY_OTHER", "SESSION_ENDED")


class Stream:
    """What its client knows: queries that are open, items without a reply, sessions that ended."""

    def __init__(
        self,
        stub: "oracle_pb2_grpc.OracleServiceAsyncStub",
        hello: oracle_pb2.Hello,
        accounts: Mapping[str, Account],
    ) -> None:
        self.labeler, self._accounts = hello.labeler, accounts
        self.sessions, self._resumes = list(hello.sessions), bool(hello.resume_token)
        self.welcome: oracle_pb2.Welcome | None = None
        # By lease id.
        self.open: dict[str, oracle_pb2.Assign] = {}
        self.tenures: dict[str, Tenure] = {}
        # Sessions in which nothing more will be asked, and why.
        self.finished: dict[str, str] = {}
        self.error: grpc.aio.AioRpcError | None = None
        self.drained = self.ended = False
        # When the first item was replied to: what came back with the stream came before.
        self.replied_at = inf
        self.credit = hello.credit
        # The highest credit that may be in force at the server.
        self._most = hello.credit
        self._lowered_before = 0
        self._said: deque[tuple[Said, list[Touch]]] = deque()
        self._count = self._replies = 0
        # Gone without a word, or with Bye.
        self._vanished = self.left = False
        self._news = asyncio.Event()
        self.history: deque[object] = deque(maxlen=30)
        self._outbox: asyncio.Queue[oracle_pb2.ConverseRequest | None] = asyncio.Queue()
        self._outbox.put_nowait(oracle_pb2.ConverseRequest(hello=hello))
        self._call = stub.Converse(self._requests())

    async def _requests(self) -> AsyncIterator[oracle_pb2.ConverseRequest]:
        while request := await self._outbox.get():
            self.history.append(request)
            yield request

    def told(self) -> str:
        """The latest that was said here, for a fault's report."""
        lines = [f"{self.labeler} {self.welcome.resume_token if self.welcome else ''}"]
        for one in self.history:
            # (Features and the session's config say nothing here.)
            text = " ".join(str(one).split())
            lines.append(f"{type(one).__name__}: {text[:300]}")
        return "\n".join(lines)

    @property
    def holder(self) -> str:
        """As Redis names it."""
        assert self.welcome is not None
        return f"{self.labeler}/{self.welcome.resume_token}"

    @property
    def unanswered(self) -> list[Said]:
        """Items without a reply, oldest first."""
        return [said for said, _ in self._said]

    # What the client says

    def say(self, item: Item, session: str, row: int = ALL, *, reopens: bool = False) -> None:
        """Send an item; it is about a row, and may open its query again (``reopens``)."""
        account = self._accounts[session]
        said = Said(item, session, self.labeler, time.time())
        touches: list[Touch] = []
        if isinstance(item, oracle_pb2.Release):
            touches.append(account.touching(ALL, self.holder, said.sent))
        elif row != ALL:
            touches.append(account.touching(row, "" if reopens else self.labeler, said.sent))
        if isinstance(item, oracle_pb2.Answer | oracle_pb2.Retract):
            account.said[item.answer_id].append(said)
        self._said.append((said, touches))
        self._count += 1
        kind = type(item).__name__.lower()
        self._outbox.put_nowait(oracle_pb2.ConverseRequest(**{kind: item}))  # type: ignore[arg-type]

    def set_credit(self, credit: int) -> None:
        """Hold more or less at once."""
        self.credit = credit
        self._most = max(self._most, credit)
        self._lowered_before = self._count
        self._outbox.put_nowait(
            oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=credit))
        )

    def leave(self, *, bye: bool = True) -> None:
        """Say Bye, or that nothing more will be said: leases are given back."""
        self.left = True
        for account in self._accounts.values():
            account.touching(ALL, self.holder, time.time())
        if bye:
            self._outbox.put_nowait(oracle_pb2.ConverseRequest(bye=oracle_pb2.Bye()))
        self._outbox.put_nowait(None)

    def vanish(self) -> None:
        """Break off without a word."""
        self._vanished = True
        self._call.cancel()

    async def news(self, within_s: float) -> None:
        """Return once something has come, or after a while."""
        self._news.clear()
        try:
            async with asyncio.timeout(within_s):
                await self._news.wait()
        except TimeoutError:
            pass

    # What comes back

    async def listen(self) -> None:
        """Read until the end of the stream."""
        try:
            async for response in self._call:
                self.history.append(response)
                self._note(response)
                self._news.set()
        except AssertionError as error:
            error.add_note(self.told())
            raise
        except grpc.aio.AioRpcError as error:
            self.error = error
        except asyncio.CancelledError:
            if not self._vanished:
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
                assert response.progress.session.name in self._accounts
            case "finished":
                name = response.finished.session.name
                assert name not in self.finished, "finished twice"
                self.finished[name] = response.finished.reason
                assert not [one for one in self.open.values() if one.session == name]
            case "drain":
                self.drained = True

    def _assigned(self, assign: oracle_pb2.Assign) -> None:
        assert self.welcome is not None, "a query before Welcome"
        assert assign.session in (self.sessions or self._accounts)
        assert assign.session not in self.finished
        assert assign.lease_id not in self.open, "assigned twice"
        queries = {(one.session, one.query) for one in self.open.values()}
        assert (assign.session, assign.query) not in queries, "two leases on one query"
        assert int(assign.observation_id) == assign.row
        self.open[assign.lease_id] = assign
        account = self._accounts[assign.session]
        # What comes back with a stream comes back whatever its credit; one that serves any session
        # learns of some of it late.
        if assign.lease_id not in account.leases and not (self._resumes and not self.sessions):
            assert len(self.open) <= self._most, f"{len(self.open)} open, credit {self._most}"
        tenure = account.assigned(assign, self.labeler, self.holder, time.time())
        self.tenures[assign.lease_id] = tenure

    def _replied(self, reply: Reply) -> None:
        said, touches = self._said.popleft()
        said.reply = reply
        item, now = said.item, time.time()
        for touch in touches:
            touch.done = now
        assert reply.answer_id == getattr(item, "answer_id", "")
        assert reply.session == said.session
        self._replies += 1
        self.replied_at = min(self.replied_at, now)
        if self._replies > self._lowered_before:
            self._most = self.credit
        if isinstance(reply, oracle_pb2.Reject):
            assert reply.query == getattr(item, "query", 0)
            return
        if isinstance(item, oracle_pb2.Answer | oracle_pb2.Skip):
            assert item.query in (0, reply.query)
            self._close(lambda one: one.query == reply.query, said.session)
        elif isinstance(item, oracle_pb2.Release):
            named = item.lease_ids
            self._close(lambda one: not named or one.lease_id in named, said.session)
        elif isinstance(item, oracle_pb2.Extend):
            # (Of those not named some may have ended already.)
            for lease_id in set(item.lease_ids) - set(reply.lost_lease_ids):
                expires = reply.lease_expire_time.ToMilliseconds() / 1000
                tenure = self.tenures[lease_id]
                tenure.end = max(tenure.end, expires)

    def _close(self, which: Callable[[oracle_pb2.Assign], bool], session: str) -> None:
        self.open = {
            lease_id: one
            for lease_id, one in self.open.items()
            if one.session != session or not which(one)
        }

    def _revoked(self, revoke: oracle_pb2.Revoke) -> None:
        one = self.open.pop(revoke.lease_id)
        assert (one.session, one.query) == (revoke.session, revoke.query)
        assert revoke.reason in REASONS
        if revoke.reason == "EXPIRED":
            assert time.time() >= self.tenures[revoke.lease_id].end - TICK_S, "too early"
