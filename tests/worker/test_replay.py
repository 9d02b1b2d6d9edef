"""Queries follow from the label log alone, also with several labelers at once."""

import asyncio
import contextlib
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.state.scene import lease_request
from tests.worker.scene import Workshop, work

from svddtune import numerics
from svddtune.agreement import votes_in_force
from svddtune.numerics import Views
from svddtune.state.errors import WrongState
from svddtune.state.jobs import preparation_k
from svddtune.state.session import (
    LabelEvent,
    Session,
    SessionId,
    SkipMode,
    Verdict,
)
from svddtune.state.workspace import Snapshot
from svddtune.v1 import dataset_pb2
from svddtune.worker.data import Data, FittedLattice
from svddtune.worker.loop import WorkerLoop
from svddtune.worker.ranking import rank
from svddtune.worker.votes import majority

pytestmark = pytest.mark.integration

X, TRUTH = blobs(150, 4, seed=2)
NAMES = ("ann", "ben", "cem")
ENOUGH = 32


@dataclass(frozen=True)
class Asked:
    """A query was made, from the ranking of a moment."""

    event_id: str
    row: int
    query: int
    # The last event of the log that the ranking rests on, and the queries made before it.
    moment: str
    queries: int


@dataclass(frozen=True)
class Dropped:
    """A query was skipped for good."""

    event_id: str
    row: int


Log = list[LabelEvent | Asked | Dropped]


def position(event_id: str) -> tuple[int, int]:
    """Events by their place in the log."""
    ms, _, number = (event_id or "0-0").partition("-")
    return int(ms), int(number)


def read_log(shop: Workshop, session_id: SessionId) -> Log:
    """The log as Redis has it."""
    log: Log = []
    key = next(shop.worker.client.scan_iter(f"*s:{session_id}:events"))
    for entry, fields in shop.worker.client.xrange(key):
        of = {name.decode(): value.decode() for name, value in fields.items()}
        event_id, row, query = entry.decode(), int(of["row"]), int(of["query"])
        if of["kind"] == "ASKED":
            log.append(Asked(event_id, row, query, of["moment"], int(of["queries"])))
        elif of["kind"] == "DROPPED":
            log.append(Dropped(event_id, row))
        else:
            log.append(
                LabelEvent(
                    event_id=event_id,
                    kind=of["kind"],
                    row=row,
                    verdict=Verdict(int(of["verdict"])),
                    labeler=of["labeler"],
                    query=query,
                    source_reference="",
                    answer_id="",
                    time_ms=0,
                )
            )
    return log


def fold(log: Log, session: Session, initial: frozenset[int], queries: int) -> Snapshot:
    """The snapshot that a worker read when this was the log, by the definition of votes."""
    config = session.config
    labelling = [event for event in log if isinstance(event, LabelEvent)]
    asked_by = {event.row: event.query for event in log if isinstance(event, Asked)}
    votes = votes_in_force(labelling)
    labels = {row: majority(of_row) for row, of_row in votes.items() if majority(of_row)}
    # Nobody could say, or as many said one thing as the other, and no more are asked.
    dropped = {event.row for event in log if isinstance(event, Dropped)} | {
        row
        for row, of_row in votes.items()
        if row not in labels and (row not in asked_by or len(of_row) >= config.overlap_limit)
    }
    return Snapshot(
        session=replace(session, query_count=queries),
        rev=sum(event.kind not in ("UNUSED", "REPEATED") for event in labelling),
        attempt=0,
        labels=labels,
        asked_by={row: asked_by.get(row, 0) for row in labels},
        dropped=frozenset(dropped),
        open_rows=frozenset(asked_by.keys() - labels.keys() - dropped),
        estimating_ms=0,
        prep_k=preparation_k(config.k, session.observation_count),
        initial_rows=initial,
        atlas_ready=True,
        votes={row: {name: int(said) for name, said in of.items()} for row, of in votes.items()},
        moment=log[-1].event_id if log else "",
    )


def replayed_rows(log: Log, session: Session, initial: frozenset[int]) -> list[int]:
    """Rows that the log's rankings give, each computed again from the log before it."""
    data = Data(dataset_pb2.Dataset(), Views(X, "none"))
    prep = numerics.prepare(X, k=preparation_k(session.config.k, len(X)))
    atlas = numerics.fit_atlas(X, numerics.default_gamma_bounds(X))
    lattice = FittedLattice(atlas, numerics.belief_basis(X))
    rankings: dict[tuple[str, int], list[int]] = {}
    rows = []
    for end, event in enumerate(log):
        if not isinstance(event, Asked):
            continue
        made_from = event.moment, event.queries
        if made_from not in rankings:
            before = [one for one in log if position(one.event_id) <= position(event.moment)]
            snapshot = fold(before, session, initial, event.queries)
            ranking = rank(snapshot, prep, data, lattice)
            rankings[made_from] = [one.row for one in ranking.candidates]
        # The best row that is still free by then.
        now = fold(log[:end], session, initial, event.queries)
        taken = (
            now.labels.keys()
            | now.dropped
            | {one.row for one in log[:end] if isinstance(one, Asked)}
        )
        rows.append(next(row for row in rankings[made_from] if row not in taken))
    return rows


def said_by(name: str, row: int) -> Verdict:
    """The answer of a labeler, who errs and doubts now and then."""
    chance = random.Random(f"{name} {row}").random()
    if chance < 0.1:
        return Verdict.UNSURE
    return Verdict(int(-TRUTH[row] if chance < 0.25 else TRUTH[row]))


async def labels_of(shop: Workshop, session_id: SessionId) -> int:
    """Labels there are, a moment later: nothing tells this process when there are more."""
    await asyncio.sleep(0.002)
    return (await shop.sessions.get(session_id)).counts.total


async def answer_all(shop: Workshop, session_id: SessionId, name: str) -> None:
    """Answer, two queries at a time and at a pace of its own, until there are enough labels."""
    pace = random.Random(name)
    while await labels_of(shop, session_id) < ENOUGH:
        outcome = await shop.sessions.lease(session_id, lease_request(name, 2))
        if outcome.withdrawn:
            return
        for lease in outcome.leases:
            await asyncio.sleep(pace.uniform(0.0, 0.03))
            # A labeler that is withdrawn meanwhile learns it from its answer.
            with contextlib.suppress(WrongState):
                if name == "cem" and lease.query % 10 == 4:
                    await shop.skip(session_id, lease, SkipMode.DROP, labeler=name)
                else:
                    await shop.answer(session_id, lease, said_by(name, lease.row), labeler=name)


async def change_minds(shop: Workshop, session_id: SessionId) -> None:
    """A label that comes unasked, a vote that is taken back, a labeler that is withdrawn."""
    while await labels_of(shop, session_id) < ENOUGH // 4:
        pass
    seen = {event.row for event in read_log(shop, session_id)}
    free = next(row for row in range(len(X)) if row not in seen)
    await shop.answer(session_id, free, Verdict(int(TRUTH[free])), labeler="dan")
    while await labels_of(shop, session_id) < ENOUGH // 2:
        pass
    events = await shop.sessions.label_events(session_id)
    mine = next(one for one in events if one.labeler == "ann" and one.kind == "LABELED")
    await shop.sessions.retract(session_id, row=mine.row, labeler="ann", answer_id="take-back")
    while await labels_of(shop, session_id) < 3 * ENOUGH // 4:
        pass
    await shop.sessions.withdraw(session_id, "ben", by="test")


@pytest.mark.parametrize(
    "strategy", ["knowledge_gradient", pytest.param("lama", marks=pytest.mark.slow)]
)
def test_replay_of_label_log_gives_same_queries(redis_url: str, strategy: str) -> None:
    async def act(shop: Workshop) -> tuple[Log, Session, frozenset[int]]:
        await shop.upload_rows(X)
        known = {int(np.flatnonzero(TRUTH == verdict)[0]): Verdict(verdict) for verdict in (1, -1)}
        session_id = await shop.tuning(
            initial=known,
            budget=80,
            audit=10,
            overlap=2,
            overlap_limit=3,
            strategy=strategy,
            seed=7,
        )
        loop = WorkerLoop(shop.worker.queue, shop.worker.steps)
        working = asyncio.create_task(asyncio.to_thread(loop.run, {}))
        try:
            await asyncio.gather(
                *(answer_all(shop, session_id, name) for name in NAMES),
                change_minds(shop, session_id),
            )
        finally:
            loop.stop()
            await working
        return read_log(shop, session_id), await shop.sessions.get(session_id), frozenset(known)

    log, session, initial = work(redis_url, act)
    asked = [event for event in log if isinstance(event, Asked)]
    assert replayed_rows(log, session, initial) == [event.row for event in asked]
    # It was not as simple as one after the other.
    kinds = {event.kind for event in log if isinstance(event, LabelEvent)}
    assert {"LABELED", "RETRACTED", "WITHDRAWN"} <= kinds
    # (Often a ranking is older than the last label by then; when depends on the machine.)
    assert len({(query.moment, query.queries) for query in asked}) < len(asked)
