"""What a labeler may do on a stream, in any order."""

import asyncio
import time
import uuid

from tests.properties.streams.member import INLIER, OUTLIER, Member, truth
from tests.properties.streams.stream import Stream

from svddtune.v1 import common_pb2, oracle_pb2

# Verb -> how often it is chosen.
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
    "vanish": 7,
    "be_silent": 3,
}
SKIPS = (
    oracle_pb2.SKIP_MODE_LATER,
    oracle_pb2.SKIP_MODE_LATER,
    oracle_pb2.SKIP_MODE_OTHERS,
    oracle_pb2.SKIP_MODE_OTHERS,
    oracle_pb2.SKIP_MODE_DROP,
)


class Whimsical(Member):
    """A labeler that does anything."""

    async def act(self) -> None:
        """One thing, and a moment's thought."""
        stream = await self.present()
        self._past += [one for one in stream.open.values() if one not in self._past]
        (verb,) = self._dice.choices(list(VERBS), list(VERBS.values()))
        await getattr(self, f"_{verb}")(stream)
        await stream.news(self._dice.expovariate(8))

    def _verdict(self, row: int) -> common_pb2.Verdict:
        return self._dice.choice([truth(row)] * 7 + [INLIER, OUTLIER, common_pb2.VERDICT_UNSURE])

    def _about(self, session: str, row: int, *, replace: bool) -> None:
        answer = oracle_pb2.Answer(
            answer_id=uuid.UUID(int=self._dice.getrandbits(128)).hex,
            session=session,
            observation_id=str(row),
            verdict=self._verdict(row),
            replace=replace,
        )
        self._say(answer, session, row)

    def _one_open(self, stream: Stream) -> oracle_pb2.Assign | None:
        return self._dice.choice(list(stream.open.values())) if stream.open else None

    def _some_session(self) -> str:
        return self._dice.choice(list(self.sessions or self.accounts))

    async def _answer(self, stream: Stream) -> None:
        """One query, or all that are open."""
        every = list(stream.open.values())
        for one in every if self._dice.random() < 0.3 else every[:1]:
            self._answer_to(one, self._verdict(one.row))

    async def _answer_again(self, stream: Stream) -> None:
        """The same answer, once more or at once twice."""
        if self._answers:
            said, row = self._dice.choice(self._answers[-4:])
            for _ in range(self._dice.randint(1, 2)):
                self._say(said.item, said.session, row)  # type: ignore[arg-type]

    async def _answer_otherwise(self, stream: Stream) -> None:
        """Something else under the same id."""
        answers = [
            (said, row) for said, row in self._answers if isinstance(said.item, oracle_pb2.Answer)
        ]
        if answers:
            said, row = self._dice.choice(answers[-4:])
            other = oracle_pb2.Answer()
            other.CopyFrom(said.item)  # type: ignore[arg-type]
            other.verdict = OUTLIER if other.verdict == INLIER else INLIER
            self._say(other, said.session, row)

    async def _answer_late(self, stream: Stream) -> None:
        """A query it has, or had."""
        if self._past:
            one = self._dice.choice(self._past[-6:])
            self._answer_to(one, self._verdict(one.row))

    async def _answer_unasked(self, stream: Stream) -> None:
        """Any observation, often one that somebody is asked about."""
        session = self._some_session()
        asked = [one.row for one in self.accounts[session].tenures[-20:]]
        row = self._dice.choice([*asked, self._dice.randrange(self.rows)])
        self._about(session, row, replace=self._dice.random() < 0.2)

    async def _correct(self, stream: Stream) -> None:
        """An own vote."""
        if self._answers:
            said, row = self._dice.choice(self._answers)
            self._about(said.session, row, replace=True)

    async def _retract(self, stream: Stream) -> None:
        """An own vote or, less often, another's."""
        if not self._answers:
            return
        said, row = self._dice.choice(self._answers)
        others = [one for one in self.accounts[said.session].tenures if one.labeler != self.labeler]
        of = ""
        if others and self._dice.random() < 0.3:
            other = self._dice.choice(others)
            of, row = other.labeler, other.row
        retract = oracle_pb2.Retract(
            answer_id=uuid.UUID(int=self._dice.getrandbits(128)).hex,
            session=said.session,
            observation_id=str(row),
            of_labeler=of,
        )
        self._say(retract, said.session, row)

    async def _skip(self, stream: Stream) -> None:
        if one := self._one_open(stream):
            skip = oracle_pb2.Skip(
                session=one.session,
                query=one.query,
                lease_id=one.lease_id,
                mode=self._dice.choice(SKIPS),
            )
            stream.say(skip, one.session, one.row)

    async def _extend(self, stream: Stream) -> None:
        self.extend(stream, all_of=self._dice.random() < 0.3)

    async def _think(self, stream: Stream) -> None:
        """Longer than a lease, with heartbeats."""
        held = [stream.tenures[lease_id] for lease_id in stream.open]
        until = max((one.end for one in held), default=0)
        while stream.open and time.time() < until + 0.3 and not stream.ended:
            self.extend(stream)
            await stream.news(0.3)

    async def _release(self, stream: Stream) -> None:
        if one := self._one_open(stream):
            ids = [one.lease_id] if self._dice.random() < 0.5 else []
            stream.say(oracle_pb2.Release(session=one.session, lease_ids=ids), one.session)

    async def _change_credit(self, stream: Stream) -> None:
        credit = self._dice.randint(0, 3)
        # A later stream asks for no less than this one, for what it has comes back with it.
        self._credit = max(self._credit, credit)
        stream.set_credit(credit)

    async def _leave(self, stream: Stream) -> None:
        """In order, and back as somebody new."""
        await self.leave(bye=self._dice.random() < 0.7)
        self._token = ""

    async def _vanish(self, stream: Stream) -> None:
        """Without a word, and back at the other service, now or in a moment."""
        stream.vanish()
        while not stream.ended:
            await stream.news(20)
        if self._dice.random() < 0.3:
            await asyncio.sleep(self._dice.random())
        await self.present()

    async def _be_silent(self, stream: Stream) -> None:
        """Until what it has runs out."""
        held = set(stream.open)
        while held & stream.open.keys() and not stream.ended:
            await stream.news(5)
