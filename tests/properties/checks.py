"""Checks of Redis against the model after every step."""

from collections import Counter

from tests.properties.ballot import Lease, Query
from tests.properties.model import Model, RepeatState
from tests.properties.stored import LogEntry, Stored


def take_grants(model: Model, stored: Stored, asking: str) -> set[str]:
    """Check new leases and tell the model of them; return the holders that got some.

    ``asking`` is the holder that asks in this step.
    """
    known, granted, votes_sought = model.leases(), set(), set()
    assert known.keys() <= stored.leases, "a lease ended that should not have"
    for lease_id, (n, holder, labeler) in stored.leases_of_queries().items():
        if lease_id in known:
            continue
        assert model.state == "LABELING"
        assert labeler not in model.void
        assert holder == asking or not model.waiting[holder].notify_only
        query = stored.queries[n]
        if query.get("control"):
            _show_control(model, n, query["row"], labeler)
        elif query.get("repeats"):
            _show_again(model, n, query["row"], labeler)
        elif n not in model.queries:
            _ask(model, n, query["row"], query["predicted"])
        granted.add(holder)
        if not query.get("control"):
            votes_sought.add(labeler)
        _lease(model, model.queries[n], lease_id, Lease(holder, labeler))
    for labeler in votes_sought:
        assert not model.controls.must_come(labeler, count=0), "a control item was due before"
    assert len(model.queries) == int(stored.fields["queries"])
    return granted


def _ask(model: Model, n: int, row: int, predicted: int) -> None:
    """Add a new query: it must be of the current ranking, on a free row, within the budget."""
    assert n == len(model.queries) + 1
    assert model.ranking is not None
    assert row in model.ranking
    assert row in _free(model)
    assert not model.nothing_new()
    model.queries[n] = Query(n, row, predicted)


def _show_again(model: Model, n: int, row: int, labeler: str) -> None:
    """Add a repeat: it must be due, on the labeler's oldest observation that may be repeated."""
    assert n == len(model.queries) + 1
    assert due_repeat(model, labeler) == row
    repeats = model.repeat_states[labeler]
    repeats.since = 0
    repeats.repeatable = repeats.repeatable[repeats.repeatable.index(row) + 1 :]
    model.queries[n] = Query(n, row, repeats=True)


def _show_control(model: Model, n: int, row: int, labeler: str) -> None:
    """Add a control item: it must be the labeler's next one, and no more than its share."""
    assert n == len(model.queries) + 1
    assert model.controls.may_come(labeler)
    assert model.controls.next_of(labeler) == row
    model.queries[n] = Query(n, row, repeats=True, control=True)


def _lease(model: Model, query: Query, lease_id: str, lease: Lease) -> None:
    assert len(model.held(lease.holder)) < model.waiting[lease.holder].most
    if not query.repeats:
        assert query.open
        assert model.unmet(query) > 0, "more labelers than votes are wanted"
        assert may_get(model, query, lease.labeler)
    query.leases[lease_id] = lease
    model.controls.count(lease.labeler, control=query.control)


def may_get(model: Model, query: Query, labeler: str) -> bool:
    """Whether the labeler has neither answered nor skipped the query, and does not hold it.

    Conflicts are for adjudicators, whether they have answered or not.
    """
    return (
        (
            labeler in model.rules.adjudicators
            if query.conflict
            else labeler not in model.votes.get(query.row, {})
        )
        and labeler not in query.skipped_by
        and labeler not in {lease.labeler for lease in query.leases.values()}
    )


def due_repeat(model: Model, labeler: str) -> int | None:
    """The row of the repeat that is due for the labeler, or None."""
    repeats = model.repeat_states.get(labeler, RepeatState())
    if not 0 < model.rules.repeat_every <= repeats.since:
        return None
    return next(
        (
            row
            for row in repeats.repeatable
            if labeler in model.votes.get(row, {}) and row not in model.dropped
        ),
        None,
    )


def _free(model: Model) -> set[int]:
    taken = model.labels().keys() | model.dropped | {one.row for one in model.open_queries()}
    return set(range(model.rows)) - taken


def something_for(model: Model, stored: Stored, labeler: str, *, votes: bool = False) -> bool:
    """Whether there is a query that this labeler may get now; with ``votes``, one for its vote."""
    if model.state != "LABELING" or labeler in model.void:
        return False
    own = due_repeat(model, labeler) is not None or model.controls.must_come(labeler)
    if own and not votes:
        return True
    new = set() if model.nothing_new() else _free(model) & set(model.ranking or ())
    return any(labeler not in model.votes.get(row, {}) for row in new) or any(
        model.unmet(query) > 0
        and may_get(model, query, labeler)
        # A query skipped for later comes after new ones.
        and (not stored.queries[query.n].get("later") or bool(new) or model.nothing_new())
        for query in model.open_queries()
    )


def check_waiting(model: Model, stored: Stored) -> None:
    """Check that no holder waits for an available query, or with all the leases it asked for.

    Nobody waits in a session that has ended.
    """
    if model.state in ("COMPLETED", "CANCELLED", "FAILED"):
        model.waiting.clear()
        assert not stored.waiting
    for holder, waiter in list(model.waiting.items()):
        if len(model.held(holder)) >= waiter.most:
            # The list in Redis may keep it for a while, but it gets nothing.
            del model.waiting[holder]
            continue
        if holder not in stored.waiting:
            assert waiter.notify_only, f"{holder} is forgotten"
            del model.waiting[holder]
        elif waiter.notify_only:
            # It gets a repeat or a control item only when it asks.
            assert not something_for(model, stored, waiter.labeler, votes=True)
        else:
            assert not something_for(model, stored, waiter.labeler), (
                f"{holder} waits for an available query"
            )
    for holder in stored.waiting.keys() - model.waiting.keys():
        assert len(model.held(holder)) >= stored.waiting[holder], f"{holder} asked for nothing"


def check_state(model: Model, stored: Stored) -> None:
    """Check that labels, counts, queries and leases are those of the model."""
    assert (stored.fields["state"], stored.fields["finish_reason"]) == (model.state, model.reason)
    assert stored.withdrawn == model.void
    assert [entry[:5] for entry in stored.log] == model.log
    assert {
        row: {name: int(verdict) for name, verdict, *_ in votes}
        for row, votes in stored.votes.items()
    } == {
        row: {name: vote.verdict for name, vote in votes.items()}
        for row, votes in model.votes.items()
        if votes
    }
    assert stored.labels == model.labels()
    assert stored.counts == model.counts()
    # No query is lost or doubled. Those that lack leases are in the list of open queries.
    asked = {query.row: query.n for query in model.open_queries()}
    assert stored.asked == asked
    assert Counter(stored.open) == Counter(
        query.n for query in model.open_queries() if model.unmet(query) > 0
    )
    assert stored.awaiting == model.awaiting()
    assert stored.dropped == model.dropped
    assert stored.controls == model.controls.order
    conflicts = sum(query.conflict for query in model.open_queries())
    assert int(stored.fields.get("conflicts", 0)) == conflicts
    # Each query has one entry in the log, by its number.
    assert stored.asked_events == [
        (one.row, one.n) for one in sorted(model.queries.values(), key=lambda q: q.n)
        if not one.repeats
    ]  # fmt: skip
    # Leases: the same by query, by expiry and by holder.
    leases = {one: (q.n, lease.holder, lease.labeler) for one, (q, lease) in model.leases().items()}
    assert stored.leases_of_queries() == leases
    assert stored.leases == leases.keys()
    assert Counter(one for ids in stored.held.values() for one in ids) == Counter(leases.keys())
    for holder, ids in stored.held.items():
        assert {leases[one][1] for one in ids} == {holder}
    for query in model.queries.values():
        names = [lease.labeler for lease in query.leases.values()]
        assert len(set(names)) == len(names) <= max(model.rules.overlap, model.rules.limit)


def check_work(model: Model, stored: Stored) -> None:
    """Check that a ranking job is queued if one is needed, and never two."""
    assert stored.suggest_jobs == int(stored.fields["suggesting"]) <= 1
    ranking = [row for row in stored.ranked if row in _free(model)] if model.ranking else []
    fresh_reserve = model.ranking is not None and bool(stored.ranked)
    if model.state == "LABELING" and not model.nothing_new() and not fresh_reserve:
        assert stored.suggest_jobs, "neither a ranking nor a job for one"
    assert set(ranking) <= set(model.ranking or ())


def fold(log: list[LogEntry]) -> dict[int, dict[str, int]]:
    """Votes in force by the definition in ``common.proto``, from the log alone.

    Where an adjudicator decided, its vote alone.
    """
    votes: dict[int, dict[str, int]] = {}
    deciding: set[tuple[int, str]] = set()
    void: set[str] = set()
    for kind, row, verdict, labeler, _, _, decides in log:
        match kind:
            case "LABELED":
                votes.setdefault(row, {})[labeler] = verdict
                (deciding.add if decides else deciding.discard)((row, labeler))
            case "RETRACTED":
                del votes[row][labeler]
            case "WITHDRAWN":
                void.add(labeler)
            case "REINSTATED":
                void.remove(labeler)
            case _:
                assert kind in ("UNUSED", "REPEATED", "CHECKED")
    found = {
        row: {name: verdict for name, verdict in of_row.items() if name not in void}
        for row, of_row in votes.items()
    }
    for row, of_row in found.items():
        judges = [name for name in of_row if (row, name) in deciding]
        if judges:
            found[row] = {judges[-1]: of_row[judges[-1]]}
    return {row: of_row for row, of_row in found.items() if of_row}


def check_fold(stored: Stored) -> None:
    """Check that the labels are the majority of the votes in force by the log."""
    votes = fold(stored.log)
    assert stored.labels.keys() <= votes.keys()
    for row, of_row in votes.items():
        balance = sum(of_row.values())
        if balance:
            assert stored.labels[row] == (1 if balance > 0 else -1)
        else:
            assert not stored.labels.get(row), "a tie is no label"
            # The label is unsure only if the query is closed.
            assert (row in stored.asked) <= (row not in stored.labels)
    answers = Counter(entry[5] for entry in stored.log if entry[5])
    receipts = Counter(key.partition("/")[2] for key in stored.receipts)
    assert answers == receipts, "each receipt is for one entry of the log"
