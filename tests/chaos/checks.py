"""What has to hold after each run, whatever struck it."""

from collections import Counter
from collections.abc import Iterable, Sequence

from tests.chaos.deployment import Deployment
from tests.chaos.labelers import Journal
from tests.waiting import wait_until

from svddtune.client import LabelEvent, Result, TuningClient, Verdict
from svddtune.state import keys
from svddtune.state.connect import Redis

# What follows from the events alone. Not among it: who made the result and when, and what is said
# about it from an atlas that happened to be there, though the strategy does not need one.
_OF_THE_EVENTS = (
    *("scaling", "gamma", "C", "nu", "C_bounds", "quality", "audit", "choice", "c_curve"),
    *("alignment_curve", "outside_count", "support_vector_count"),
)
_OF_THE_ATLAS = ("comparisons", "outlier_share", "expected_gain", "refined")
# Keys that stay while nothing is stored. All others have to expire, within an hour or a day.
_LASTING = (
    *("layout", "layout:hold", "layout:migrated", "data"),
    *("q:hi", "q:bulk", "q:wake", "notices"),
)


def check_log(journal: Journal, events: Sequence[LabelEvent]) -> None:
    """Check that each acknowledged label is in the log once, and nothing that nobody sent."""
    logged = Counter(event.answer_id for event in events)
    twice = [one for one, count in logged.items() if count > 1]
    assert not twice, f"in the log twice: {twice}"
    lost = journal.acked.keys() - logged.keys()
    assert not lost, f"acknowledged and lost: {[journal.sent[one] for one in lost]}"
    for event in events:
        sent = journal.sent.get(event.answer_id)
        assert sent is not None, f"nobody sent {event}"
        verdict = Verdict.of(sent["verdict"])
        found = (event.labeler, event.row, event.verdict)
        assert found == (sent["labeler"], sent["row"], verdict), (event, sent)
        assert event.kind in (sent["act"], "unused"), (event, sent)
        ack = journal.acked.get(event.answer_id)
        if ack is not None:
            assert ack["event_id"] == event.event_id, (event, ack)
            assert ack["applied"] == (event.kind != "unused"), (event, ack)


def check_same(found: Result, expected: Result) -> None:
    """Check that two results are the same, to the last bit."""
    of_atlas = _OF_THE_ATLAS if found.choice == "atlas" else ()
    for field in (*_OF_THE_EVENTS, *of_atlas):
        here, there = getattr(found, field), getattr(expected, field)
        # NaN, where nothing can be judged, is the same as NaN.
        assert repr(here) == repr(there), f"{field}: {here}, undisturbed {there}"


def check_processes(deployment: Deployment) -> None:
    """Check that all processes live and answer."""
    for name, process in deployment.processes().items():
        assert not process.ended, f"{name} has ended"
    for process in deployment.services:
        with TuningClient(str(process.ready["address"])) as client:
            client.server_info()
    for labeler in deployment.labelers:
        assert labeler.process.poll() is None, f"{labeler.name} has ended"
    with deployment.store.direct() as client:
        for one in deployment.workers:
            key = f"{keys.prefix(0)}worker:{one.ready['worker']}"
            # It signs in every few seconds; after a loss of all data there is a moment without.
            wait_until(lambda key=key: bool(client.exists(key)))  # type: ignore[misc]


def left_over(client: Redis) -> list[str]:
    """What is still stored for good, waits or runs although everything was deleted."""
    prefix = keys.prefix(0)
    found = []
    for raw in client.scan_iter(count=1000):
        key = raw.decode()
        if keys.group_of(key) is None:
            found.append(f"{key}, which nobody knows")
        # (-2: it has expired meanwhile.)
        elif key.removeprefix(prefix) not in _LASTING and client.ttl(key) == -1:
            found.append(key)
    for lane in ("hi", "bulk"):
        stream = f"{prefix}q:{lane}"
        if client.xlen(stream):
            found.append(f"{client.xlen(stream)} jobs in {stream}")
    return found


def claims_of_the_dead(client: Redis, living: Iterable[str]) -> list[str]:
    """Consumers of workers that are gone and still hold a claim."""
    known = set(living)
    return [
        name
        for lane in ("hi", "bulk")
        for one in client.xinfo_consumers(f"{keys.prefix(0)}q:{lane}", keys.GROUP)
        if (name := one["name"].decode()) not in known and one["pending"]
    ]


def check_nothing_left(deployment: Deployment) -> None:
    """Check that no key, job or claim is left once everything was deleted."""
    living = [str(one.ready["worker"]) for one in deployment.workers]
    with deployment.store.direct() as client:
        # A worker may be about to notice that nobody needs its job any more.
        try:
            wait_until(
                lambda: not left_over(client) and not claims_of_the_dead(client, living),
                timeout_s=15,
            )
        except AssertionError:
            left = left_over(client) + claims_of_the_dead(client, living)
            raise AssertionError(f"left over: {left}") from None
