"""A labeler that reconnects after its stream has ended, keeps its leases and answers truthfully."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from math import inf
from random import Random

import grpc
from tests.properties.streams.stream import Stream
from tests.properties.streams.transcript import SentItem, Transcript

from svddtune.v1 import common_pb2, oracle_pb2, oracle_pb2_grpc

# The length of leases that are not to end by themselves.
LASTING_S = 3600.0
# Seconds between heartbeats.
BEAT_S = 0.3
INLIER, OUTLIER = common_pb2.VERDICT_INLIER, common_pb2.VERDICT_OUTLIER


def truth(row: int) -> common_pb2.Verdict:
    """The verdict of a truthful labeler."""
    return INLIER if row % 5 else OUTLIER


class Labeler:
    """A labeler with one stream at a time, to one of the services."""

    def __init__(
        self,
        labeler: str,
        seed: str,
        *,
        stubs: "Sequence[oracle_pb2_grpc.OracleServiceAsyncStub]",
        transcripts: Mapping[str, Transcript],
        sessions: Sequence[str],
        rows: int,
        listening: Callable[[Stream], object],
    ) -> None:
        self.labeler, self.transcripts, self.rows = labeler, transcripts, rows
        # Empty: all sessions.
        self.sessions = sessions
        self._random = Random(seed)
        self._stubs, self._listening = stubs, listening
        self.at = self._random.randrange(len(stubs))
        self.stream: Stream | None = None
        self._token = ""
        self._credit = self._random.randint(1, 3)
        self._kind = self._random.randrange(3)
        # Pairs of a stream and the one that resumed it.
        self.resumed: list[tuple[Stream, Stream]] = []
        # All queries it has had.
        self._past: list[oracle_pb2.Assign] = []
        # All answers it has given, each with its row.
        self._answers: list[tuple[SentItem, int]] = []

    # Connecting and leaving

    async def connected(self) -> Stream:
        """The open stream. If the last one has ended, a new one resumes it at the other service."""
        if self.stream is not None and self.stream.ended:
            await self._lost()
        return await self._open()

    async def _open(self) -> Stream:
        while self.stream is None or self.stream.ended:
            stream = self.stream = Stream(
                self._stubs[self.at],
                oracle_pb2.Hello(
                    min_protocol_version=1,
                    labeler=self.labeler,
                    kind=self._kind,  # type: ignore[arg-type]
                    sessions=self.sessions,
                    resume_token=self._token,
                    credit=self._credit,
                ),
                self.transcripts,
            )
            self._listening(stream)
            while not stream.welcome and not stream.ended:
                await stream.wait_for_message(20)
            if stream.welcome:
                self._token = stream.welcome.resume_token
            else:
                # That service is down.
                self._check_gone(stream)
                self.at = 1 - self.at
                await stream.wait_for_message(0.05)
        return self.stream

    @staticmethod
    def _check_gone(stream: Stream) -> None:
        if stream.error is not None:
            # (The library has another word for it where it was about to send, and now and then for
            # a stream that this labeler broke off.)
            assert stream.error.code() is grpc.StatusCode.UNAVAILABLE or stream.error.details() in (
                "Internal error from Core",
                "Locally cancelled by application!",
            ), stream.error

    async def _lost(self) -> None:
        assert self.stream is not None
        self._check_gone(self.stream)
        unanswered = {id(one) for one in self.stream.unanswered}
        broken = self.stream
        self.at = 1 - self.at
        stream = await self._open()
        self.resumed.append((broken, stream))
        for session in {one.session for one in broken.open.values()}:
            stream.send(oracle_pb2.Extend(session=session), session)
            while stream.unanswered and not stream.ended:
                await stream.wait_for_message(20)
        for one, row in [known for known in self._answers if id(known[0]) in unanswered]:
            # Sent again, and seldom not.
            if self._random.random() < 0.9:
                self._send(one.item, one.session, row)  # type: ignore[arg-type]

    def _send(self, item: oracle_pb2.Answer | oracle_pb2.Retract, session: str, row: int) -> None:
        assert self.stream is not None
        reopens = isinstance(item, oracle_pb2.Retract) or item.replace
        self.stream.send(item, session, row, reopens=reopens)
        self._answers.append((self.transcripts[session].answers[item.answer_id][-1], row))

    def _answer_to(self, one: oracle_pb2.Assign, verdict: common_pb2.Verdict) -> None:
        named = self._random.random() < 0.5
        answer = oracle_pb2.Answer(
            answer_id=uuid.UUID(int=self._random.getrandbits(128)).hex,
            session=one.session,
            query=one.query,
            lease_id=one.lease_id,
            observation_id=one.observation_id if named else "",
            verdict=verdict,
        )
        self._send(answer, one.session, one.row)

    def extend(self, stream: Stream, *, all_of: bool = False) -> None:
        """Send a heartbeat for the known leases, or for all."""
        for session in {one.session for one in stream.open.values()}:
            ids = [one.lease_id for one in stream.open.values() if one.session == session]
            extend = oracle_pb2.Extend(session=session, lease_ids=[] if all_of else ids)
            stream.send(extend, session)

    async def beat(self, stream: Stream, *, lapsing_s: float = inf) -> None:
        """Send a heartbeat, unless no lease ends within `lapsing_s`, and pause.

        A service that is late with its replies gets no further heartbeats: more of them would only
        make it later.
        """
        ends = [stream.periods[lease_id].end for lease_id in stream.open]
        if not stream.unanswered and min(ends, default=inf) < time.time() + lapsing_s:
            self.extend(stream)
        again = time.monotonic() + BEAT_S
        while not stream.ended and (left_s := again - time.monotonic()) > 0:
            await stream.wait_for_message(left_s)

    async def leave(self, *, bye: bool = True) -> None:
        """End the stream, with or without Bye, and wait until it has ended."""
        stream = await self.connected()
        stream.leave(bye=bye)
        while not stream.ended:
            await stream.wait_for_message(20)
        self._check_gone(stream)

    # Work at the end of a scenario

    async def keep(self) -> None:
        """Keep the leases that would end soon."""
        await self.beat(await self.connected(), lapsing_s=LASTING_S / 10)

    async def work(self) -> None:
        """Answer the open queries truthfully."""
        stream = await self.connected()
        answered = {
            one.item.lease_id
            for one in stream.unanswered
            if isinstance(one.item, oracle_pb2.Answer)
        }
        for one in list(stream.open.values()):
            if one.lease_id not in answered:
                self._answer_to(one, truth(one.row))
        await stream.wait_for_message(1)
