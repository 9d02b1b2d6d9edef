"""Play one session under a schedule, and check what has to hold."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple

from tests.chaos import checks
from tests.chaos.deployment import NAMES, Deployment
from tests.chaos.faults import STRIKES
from tests.chaos.schedule import LOST_DATA, Schedule
from tests.numerics.cases import blobs

from svddtune.client import LabelEvent, NotFound, Result, SessionConfig, TuningClient, Unavailable
from svddtune.numerics import FloatArray

# Once a fault is over, everything has to go on within this time.
PATIENCE_S = 60.0
# Shortest lease: a labeler that does not move loses its query soon.
LEASE_S = 1.0


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a schedule that held."""

    seconds: float
    labels: int
    retracted: int
    # Answers sent and never acknowledged, because their labeler was killed or the data were lost.
    unknown: int


class Event(NamedTuple):
    """One event of a log, as far as a result depends on it."""

    labeler: str
    kind: str
    observation_id: str
    verdict: object

    @classmethod
    def of(cls, event: LabelEvent) -> "Event":
        """Take it from a log."""
        return cls(event.labeler, event.kind, event.observation_id, event.verdict)


def play(deployment: Deployment, schedule: Schedule, *, patience_s: float = PATIENCE_S) -> Played:
    """Play a schedule. Raises AssertionError or TimeoutError where something does not hold.

    ``patience_s``: how long it may take until something goes on; more on a busy machine.
    """
    begin, owner, journal = time.monotonic(), deployment.owner, deployment.journal
    X, y = blobs(schedule.rows, 2, seed=schedule.seed)
    dataset = owner.upload_dataset(X)
    config = SessionConfig(
        budget=schedule.budget,
        strategy=schedule.strategy,
        seed=schedule.seed,
        lease_seconds=LEASE_S,
    )
    session = owner.create_session(dataset, config)
    journal.begin()
    for labeler in deployment.labelers:
        labeler.begin(
            {
                "session": session.name,
                "verdicts": y.tolist(),
                "credit": 1 + schedule.seed % 2,
                "take_back": list(range(schedule.seed % 7, schedule.rows, 7)),
                "before": schedule.budget // 2,
            }
        )
    for fault in schedule.faults:
        journal.wait_for(
            lambda journal, after=fault.after: (  # type: ignore[misc]
                journal.labels >= after or len(journal.ended) == len(deployment.labelers)
            ),
            patience_s,
            f"label {fault.after}, before {fault}",
        )
        STRIKES[fault.kind](deployment, fault)
    journal.wait_for(
        lambda journal: len(journal.ended) == len(deployment.labelers),
        patience_s,
        "the end of all dialogues",
    )
    if any(fault.kind == LOST_DATA for fault in schedule.faults):
        _check_told(deployment, session.name)
        deployment.ready()
        # All processes go on with other sessions.
        unasked = [Event(NAMES[0], "labeled", str(row), y[row]) for row in range(schedule.budget)]
        undisturbed(owner, X, config, unasked, patience_s)
        retracted = 0
    else:
        assert set(journal.ended.values()) == {""}, (journal.ended, journal.messages)
        owner.wait_until_completed(session, timeout_s=patience_s)
        log = list(owner.labels(session))
        checks.check_log(journal, log)
        events = [Event.of(one) for one in log]
        retracted = sum(event.kind == "retracted" for event in events)
        result = owner.result(session)
        owner.delete_session(session)
        owner.delete_dataset(dataset)
        deployment.ready()
        checks.check_same(result, undisturbed(owner, X, config, events, patience_s))
    deployment.ready()
    checks.check_processes(deployment)
    checks.check_nothing_left(deployment)
    return Played(
        seconds=time.monotonic() - begin,
        labels=journal.labels,
        retracted=retracted,
        unknown=len(journal.sent) - len(journal.acked),
    )


def _check_told(deployment: Deployment, session: str) -> None:
    """Check that the loss of the session is told to everybody, and nothing is served from it."""
    told = set(deployment.journal.ended.values())
    assert told <= {"", "SESSION_NOT_FOUND", "DATASET_NOT_FOUND"}, told
    for _ in range(100):
        try:
            found = deployment.owner.get_session(session)
        except NotFound:
            return
        except Unavailable:
            # The service may be about to start anew.
            time.sleep(0.05)
        else:
            raise AssertionError(f"served after the loss of all data: {found}")
    raise AssertionError("the service is away after the loss of all data")


def undisturbed(
    owner: TuningClient,
    X: FloatArray,
    config: SessionConfig,
    events: Sequence[Event],
    patience_s: float,
) -> Result:
    """The result of a session without faults that gets the same events, prepared anew."""
    dataset = owner.upload_dataset(X)
    session = owner.create_session(dataset, config)
    with ExitStack() as stack:
        dialogues = {
            name: stack.enter_context(owner.tuning(session, labeler=name, credit=0))
            for name in sorted({event.labeler for event in events})
        }
        for event in events:
            if event.kind == "labeled":
                dialogues[event.labeler].label(event.observation_id, event.verdict)
            elif event.kind == "retracted":
                dialogues[event.labeler].retract(event.observation_id)
    owner.wait_until_completed(session, timeout_s=patience_s)
    result = owner.result(session)
    owner.delete_session(session)
    owner.delete_dataset(dataset)
    return result
