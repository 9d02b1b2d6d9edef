"""Up to 50 holders in random interleavings, against a simple model.

Nothing is lost, nothing has two effects, leases are exclusive, and the fold over the log is the
state.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import sized
from tests.state.scene import N, Scene, play

from svddtune.state import keys
from svddtune.state.errors import StateError
from svddtune.state.session import (
    Answer,
    Asking,
    Lease,
    Receipt,
    SessionId,
    SessionState,
    SkipMode,
    Verdict,
)

pytestmark = pytest.mark.integration

GONE_MS = 3_600_000

# Some more often than others.
VERBS = [
    *["lease", "answer", "answer", "answer", "late", "unasked", "again", "correct", "skip"],
    *["retract", "release", "expire", "park", "pause", "resume", "work", "work"],
    *["withdraw", "reinstate"],
]
REFUSALS = {"ALREADY_ANSWERED", "SESSION_NOT_ACTIVE", "LABELER_WITHDRAWN"}

steps = st.lists(
    st.tuples(
        st.sampled_from(VERBS),
        st.integers(0, 49),
        st.integers(0, 1000),
    ),
    min_size=10,
    max_size=60,
)


def majority(votes: list[int], wanted: int, limit: int) -> tuple[int | None, bool]:
    """Label in force and whether the observation is settled, by definition."""
    inlier, outlier = votes.count(1), votes.count(-1)
    if inlier != outlier:
        return (1 if inlier > outlier else -1), len(votes) >= wanted
    if len(votes) < max(wanted, min(limit, len(votes) + 1)):
        return None, False
    return (0 if votes else None), bool(votes)


@dataclass
class Play:
    """One history: what was done, and what must follow."""

    scene: Scene
    session_id: SessionId
    overlap: int
    limit: int
    crowd: int
    held: dict[str, list[Lease]] = field(default_factory=dict)
    old: list[tuple[str, Lease]] = field(default_factory=list)
    given: dict[str, tuple[Answer, Receipt]] = field(default_factory=dict)
    count: int = 0

    def labeler(self, holder: str) -> str:
        return holder.split("/")[0]

    async def look(self, holder: str, most: int) -> None:
        asking = Asking(holder, self.labeler(holder), most)
        outcome = await self.scene.sessions.lease(self.session_id, asking, waits=True)
        assert len(outcome.leases) <= max(most, len(self.held.get(holder, [])) + most)
        self.held[holder] = list(outcome.leases)
        self.old += [(holder, lease) for lease in outcome.leases]

    async def send(self, answer: Answer) -> None:
        before = await self.scene.sessions.label_events(self.session_id, limit=10_000)
        try:
            receipt = await self.scene.sessions.answer(self.session_id, answer)
        except StateError as error:
            refusal: StateError | None = error
        else:
            refusal = None
        if refusal:
            assert refusal.reason in REFUSALS, refusal.reason
            after = await self.scene.sessions.label_events(self.session_id, limit=10_000)
            assert after == before
            return
        known = self.given.get(answer.answer_id)
        if known:
            assert receipt == known[1]
        self.given[answer.answer_id] = (answer, receipt)

    def new_answer(self, holder: str, verdict: int, **parts: Any) -> Answer:
        self.count += 1
        return Answer(f"a{self.count}", self.labeler(holder), holder, Verdict(verdict), **parts)

    async def act(self, verb: str, who: int, pick: int) -> None:
        # Each labeler works on two streams.
        stream = who % self.crowd
        holder = f"l{stream // 2}/{stream}"
        verdict = (1, -1, 1, -1, 0)[pick % 5]
        sessions, leases = self.scene.sessions, self.held.get(holder, [])
        if verb == "lease":
            await self.look(holder, pick % 3)
        elif verb == "answer" and leases:
            lease = leases.pop(pick % len(leases))
            await self.send(
                self.new_answer(holder, verdict, query=lease.query, lease_id=lease.lease_id)
            )
        elif verb == "late" and self.old:
            owner, lease = self.old[pick % len(self.old)]
            await self.send(
                self.new_answer(owner, verdict, query=lease.query, lease_id=lease.lease_id)
            )
        elif verb == "unasked":
            await self.send(self.new_answer(holder, verdict, row=pick % N))
        elif verb == "correct":
            await self.send(self.new_answer(holder, verdict, row=pick % N, replace=True))
        elif verb == "again" and self.given:
            await self.send(list(self.given.values())[pick % len(self.given)][0])
        elif verb == "skip" and leases:
            lease = leases.pop()
            await self.quietly(
                sessions.skip(
                    self.session_id,
                    labeler=self.labeler(holder),
                    holder=holder,
                    query=lease.query,
                    lease_id=lease.lease_id,
                    mode=list(SkipMode)[pick % 3],
                )
            )
        elif verb == "retract":
            self.count += 1
            await self.quietly(
                sessions.retract(
                    self.session_id,
                    answer_id=f"r{self.count}",
                    labeler=self.labeler(holder),
                    row=pick % N,
                )
            )
        elif verb == "release":
            await sessions.release(self.session_id, holder=holder)
            self.held.pop(holder, None)
        elif verb == "park":
            await sessions.park(self.session_id, holder)
        elif verb == "expire":
            key = keys.session(self.session_id, "leases")
            for member in await self.scene.client.zrange(key, 0, pick % 3):
                await self.scene.client.zincrby(key, -GONE_MS, member)
            await sessions.expire(self.session_id)
        elif verb in ("pause", "resume"):
            await self.quietly(getattr(sessions, verb)(self.session_id))
        elif verb in ("withdraw", "reinstate"):
            act = getattr(sessions, verb)
            await self.quietly(act(self.session_id, self.labeler(holder), by="owner"))
        elif verb == "work":
            self.scene.worker.work_off()

    async def quietly(self, work: Any) -> None:
        """Do what may be refused; a refusal changes nothing that the check would not see."""
        try:
            await work
        except StateError:
            return

    async def check(self) -> None:
        """The state is what the log and the model say."""
        client = self.scene.client

        def name(part: str) -> str:
            return keys.session(self.session_id, part)

        session = await self.scene.sessions.get(self.session_id)
        log = await client.xrange(name("events"))
        votes: dict[int, dict[str, int]] = {}
        void: set[str] = set()
        for _, fields in log:
            kind, labeler = fields[b"kind"], fields.get(b"labeler", b"").decode()
            row = int(fields[b"row"])
            if kind == b"LABELED":
                votes.setdefault(row, {})[labeler] = int(fields[b"verdict"])
            elif kind == b"RETRACTED":
                del votes[row][labeler]
            elif kind == b"WITHDRAWN":
                void.add(labeler)
            elif kind == b"REINSTATED":
                void.discard(labeler)
        queries = {
            int(n): json.loads(text) for n, text in (await client.hgetall(name("queries"))).items()
        }
        query_of_row = {query["row"]: query for query in queries.values()}
        stored = {
            int(row): int(text.split()[0])
            for row, text in (await client.hgetall(name("labels"))).items()
        }
        asked = {int(row): int(n) for row, n in (await client.hgetall(name("asked"))).items()}
        waiting = [int(n) for n in await client.lrange(name("open"), 0, -1)]
        leased = [member.decode() for member in await client.zrange(name("leases"), 0, -1)]
        held = {
            holder.decode(): json.loads(text)
            for holder, text in (await client.hgetall(name("held"))).items()
        }

        # The fold over the log is the state.
        expected: dict[int, int] = {}
        for row, of_row in votes.items():
            query = query_of_row.get(row)
            counted = [verdict for labeler, verdict in of_row.items() if labeler not in void]
            wanted, limit = (self.overlap, self.limit) if query else (1, 1)
            label, settled = majority(counted, wanted, limit)
            if label is not None:
                expected[row] = label
            if query and query["state"] not in ("closed", "dropped"):
                assert (row in asked) is not settled, (row, counted)
        assert stored == expected
        tally = Counter(stored.values())
        counts = session.counts
        assert (counts.inlier, counts.outlier, counts.unsure) == (tally[1], tally[-1], tally[0])
        awaiting = {int(row) for row in await client.smembers(name("awaiting"))}
        assert awaiting == {row for row in asked if stored.get(row, 0) != 0}

        # No observation is lost: what is asked is out, waits, or has the votes on their way.
        assert len(set(waiting)) == len(waiting)
        assert set(waiting) <= set(asked.values())
        for row, n in asked.items():
            query = queries[n]
            counted = [v for labeler, v in votes.get(row, {}).items() if labeler not in void]
            out = len(query["leases"])
            tie = counted.count(1) == counted.count(-1)
            wants = max(self.overlap, len(counted) + 1 if tie else 0)
            assert (n in waiting) is (wants > len(counted) + out), (n, counted, out)

        # Leases are exclusive: distinct labelers, none who has answered.
        assert sorted(leased) == sorted(one for ids in held.values() for one in ids)
        assert sorted(leased) == sorted(
            lease for query in queries.values() for lease in query["leases"]
        )
        for query in queries.values():
            names = [lease["labeler"] for lease in query["leases"].values()]
            assert len(set(names)) == len(names)
            assert not set(names) & set(votes.get(query["row"], {}))
            assert len(names) <= self.limit
        # Each acknowledged answer is in the log exactly once.
        logged = Counter(
            fields[b"answer_id"].decode() for _, fields in log if b"answer_id" in fields
        )
        for answer_id in self.given:
            assert logged[answer_id] == 1

    async def settle(self) -> None:
        """With patient labelers every history comes to its end."""
        await self.quietly(self.scene.sessions.resume(self.session_id))
        key = keys.session(self.session_id, "leases")
        for member in await self.scene.client.zrange(key, 0, -1):
            await self.scene.client.zincrby(key, -GONE_MS, member)
        await self.scene.sessions.expire(self.session_id)
        for holder in list(self.held):
            await self.scene.sessions.release(self.session_id, holder=holder)
        for turn in range(400):
            self.scene.worker.work_off()
            if (await self.scene.sessions.get(self.session_id)).state.ended:
                return
            fresh = f"patient{turn % 40}/{turn % 40}"
            await self.look(fresh, 1)
            for lease in self.held[fresh]:
                await self.send(
                    self.new_answer(fresh, 1, query=lease.query, lease_id=lease.lease_id)
                )
        raise AssertionError("the session does not end")


@pytest.mark.parametrize("overlap", [1, 2, 3])
@settings(
    max_examples=sized(15, 4),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(crowd=st.sampled_from([4, 12, 50]), script=steps)
def test_every_history_of_many_labelers_keeps_the_promises(
    redis_url: str, overlap: int, crowd: int, script: list[tuple[str, int, int]]
) -> None:
    limit = overlap + 1 if overlap > 1 else 1

    async def act(scene: Scene) -> None:
        session_id = await scene.session(budget=8, overlap=overlap, overlap_limit=limit)
        history = Play(scene, session_id, overlap, limit, crowd)
        for verb, who, pick in script:
            await history.act(verb, who, pick)
            await history.check()
        await history.settle()
        await history.check()
        session = await scene.sessions.get(session_id)
        assert session.state is SessionState.COMPLETED

    play(redis_url, act)
