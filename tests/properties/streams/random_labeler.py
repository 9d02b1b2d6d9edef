"""A labeler that does everything a stream allows, at random."""

import asyncio
import time
import uuid

from tests.properties.streams.labeler import INLIER, OUTLIER, Labeler, truth
from tests.properties.streams.stream import Stream

from svddtune.v1 import common_pb2, oracle_pb2

# Action -> weight.
VERBS = {
    "answer": 30,
    "answer_again": 5,
    "answer_otherwise": 3,
    "answer_late": 3,
    "answer_unasked": 6,
    "correct": 3,
    "retract": 3,
    "skip": 7,
    "extend": 8,
    "think": 3,
    "release": 3,
    "change_credit": 4,
    "leave": 3,
    "break_off": 7,
    "let_leases_expire": 3,
}
SKIPS = (
    oracle_pb2.SKIP_MODE_LATER,
    oracle_pb2.SKIP_MODE_LATER,
    oracle_pb2.SKIP_MODE_OTHERS,
    oracle_pb2.SKIP_MODE_OTHERS,
    oracle_pb2.SKIP_MODE_DROP,
)


class RandomLabeler(Labeler):
    """A labeler with random actions."""

    async def act(self) -> None:
        """Take one action and pause."""
        stream = await self.connected()
        self._past += [one for one in stream.open.values() if one not in self._past]
        (verb,) = self._random.choices(list(VERBS), list(VERBS.values()))
        await getattr(self, f"_{verb}")(stream)
        await stream.wait_for_message(self._random.expovariate(8))

    def _verdict(self, row: int) -> common_pb2.Verdict:
        return self._random.choice([truth(row)] * 7 + [INLIER, OUTLIER, common_pb2.VERDICT_UNSURE])

    def _about(self, session: str, row: int, *, replace: bool) -> None:
        answer = oracle_pb2.Answer(
            answer_id=uuid.UUID(int=self._random.getrandbits(128)).hex,
            session=session,
            observation_id=str(row),
            verdict=self._verdict(row),
            replace=replace,
        )
        self._send(answer, session, row)

    def _one_open(self, stream: Stream) -> oracle_pb2.Assign | None:
        return self._random.choice(list(stream.open.values())) if stream.open else None

    def _some_session(self) -> str:
        return self._random.choice(list(self.sessions or self.transcripts))

    async def _answer(self, stream: Stream) -> None:
        """Answer one open query, or all."""
        every = list(stream.open.values())
        for one in every if self._random.random() < 0.3 else every[:1]:
            self._answer_to(one, self._verdict(one.row))

    async def _answer_again(self, stream: Stream) -> None:
        """Repeat an answer once or twice."""
        if self._answers:
            sent, row = self._random.choice(self._answers[-4:])
            for _ in range(self._random.randint(1, 2)):
                self._send(sent.item, sent.session, row)  # type: ignore[arg-type]

    async def _answer_otherwise(self, stream: Stream) -> None:
        """Send another answer under the same id."""
        answers = [
            (sent, row) for sent, row in self._answers if isinstance(sent.item, oracle_pb2.Answer)
        ]
        if answers:
            sent, row = self._random.choice(answers[-4:])
            other = oracle_pb2.Answer()
            other.CopyFrom(sent.item)  # type: ignore[arg-type]
            other.verdict = OUTLIER if other.verdict == INLIER else INLIER
            self._send(other, sent.session, row)

    async def _answer_late(self, stream: Stream) -> None:
        """Answer a query that it has, or had."""
        if self._past:
            one = self._random.choice(self._past[-6:])
            self._answer_to(one, self._verdict(one.row))

    async def _answer_unasked(self, stream: Stream) -> None:
        """Label any observation, often one with an open query."""
        session = self._some_session()
        asked = [one.row for one in self.transcripts[session].periods[-20:]]
        row = self._random.choice([*asked, self._random.randrange(self.rows)])
        self._about(session, row, replace=self._random.random() < 0.2)

    async def _correct(self, stream: Stream) -> None:
        """Correct an own vote."""
        if self._answers:
            sent, row = self._random.choice(self._answers)
            self._about(sent.session, row, replace=True)

    async def _retract(self, stream: Stream) -> None:
        """Retract an own vote or, less often, one of another labeler."""
        if not self._answers:
            return
        sent, row = self._random.choice(self._answers)
        others = [
            one for one in self.transcripts[sent.session].periods if one.labeler != self.labeler
        ]
        of = ""
        if others and self._random.random() < 0.3:
            other = self._random.choice(others)
            of, row = other.labeler, other.row
        retract = oracle_pb2.Retract(
            answer_id=uuid.UUID(int=self._random.getrandbits(128)).hex,
            session=sent.session,
            observation_id=str(row),
            of_labeler=of,
        )
        self._send(retract, sent.session, row)

    async def _skip(self, stream: Stream) -> None:
        if one := self._one_open(stream):
            skip = oracle_pb2.Skip(
                session=one.session,
                query=one.query,
                lease_id=one.lease_id,
                mode=self._random.choice(SKIPS),
            )
            stream.send(skip, one.session, one.row)

    async def _extend(self, stream: Stream) -> None:
        self.extend(stream, all_of=self._random.random() < 0.3)

    async def _think(self, stream: Stream) -> None:
        """Keep queries longer than a lease, with heartbeats."""
        held = [stream.periods[lease_id] for lease_id in stream.open]
        until = max((one.end for one in held), default=0)
        while stream.open and time.time() < until + 0.3 and not stream.ended:
            await self.beat(stream)

    async def _release(self, stream: Stream) -> None:
        if one := self._one_open(stream):
            ids = [one.lease_id] if self._random.random() < 0.5 else []
            stream.send(oracle_pb2.Release(session=one.session, lease_ids=ids), one.session)

    async def _change_credit(self, stream: Stream) -> None:
        credit = self._random.randint(0, 3)
        # A later stream asks for at least as much, because this one's leases come back with it.
        self._credit = max(self._credit, credit)
        stream.set_credit(credit)

    async def _leave(self, stream: Stream) -> None:
        """Leave in order, and come back without a resume token."""
        await self.leave(bye=self._random.random() < 0.7)
        self._token = ""

    async def _break_off(self, stream: Stream) -> None:
        """Cancel the stream, and resume it at the other service, at once or after a pause."""
        stream.break_off()
        while not stream.ended:
            await stream.wait_for_message(20)
        if self._random.random() < 0.3:
            await asyncio.sleep(self._random.random())
        await self.connected()

    async def _let_leases_expire(self, stream: Stream) -> None:
        """Send nothing until the leases expire."""
        held = set(stream.open)
        while held & stream.open.keys() and not stream.ended:
            await stream.wait_for_message(5)
