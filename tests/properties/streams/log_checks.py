"""Checks of a session's log and stored state against the messages on its streams."""

from collections import Counter
from collections.abc import Iterable, Mapping

from tests.properties import checks
from tests.properties.ballot import Ballot, Lease, Query, Rules, Vote
from tests.properties.stored import LogEntry, Stored
from tests.properties.streams.stream import Stream
from tests.properties.streams.transcript import SentItem, Transcript
from tests.service.support import error_info

from svddtune.v1 import common_pb2, config_pb2, oracle_pb2

VERDICTS = {common_pb2.VERDICT_INLIER: 1, common_pb2.VERDICT_OUTLIER: -1}


def rules_of(config: config_pb2.SessionConfig) -> Rules:
    """The rules of a ballot under a session's config."""
    return Rules(
        overlap=config.overlap,
        adaptive=config.overlap_rule == config_pb2.OVERLAP_RULE_ADAPTIVE,
        limit=config.overlap_limit,
    )


def at_once(rules: Rules) -> int:
    """Largest number of labelers with one query at a time.

    Under the adaptive rule the first vote decides whether a second one is sought.
    """
    return max(1, rules.overlap - rules.adaptive)


def check_state(stored: Stored, rules: Rules) -> None:
    """Check that labels, counts, queries and leases follow from the log."""
    checks.check_fold(stored)
    votes = {
        row: {name: (int(verdict), query) for name, verdict, query, _ in of_row}
        for row, of_row in stored.votes.items()
    }
    assert checks.fold(stored.log) == {
        row: {name: verdict for name, (verdict, _) in of_row.items()}
        for row, of_row in votes.items()
    }
    ballot = Ballot(rules)
    ballot.dropped = stored.dropped
    ballot.votes = {
        row: {name: Vote(*vote) for name, vote in of_row.items()} for row, of_row in votes.items()
    }
    for n, query in stored.queries.items():
        ballot.queries[n] = Query(
            n, query["row"], query["predicted"], open=query["state"] == "open"
        )
    for lease_id, (n, holder, labeler) in stored.leases_of_queries().items():
        ballot.queries[n].leases[lease_id] = Lease(holder, labeler)
    assert stored.labels == ballot.labels()
    assert stored.counts == ballot.counts()
    # Each query is open, leased or settled: none is lost.
    assert stored.asked == {query.row: query.n for query in ballot.open_queries()}
    assert stored.awaiting == ballot.awaiting()
    assert Counter(stored.open) == Counter(
        query.n for query in ballot.open_queries() if ballot.unmet(query) > 0
    )
    assert [n for _, n in stored.asked_events] == sorted(ballot.queries)
    assert stored.leases == ballot.leases().keys()
    held = {lease_id: holder for holder, ids in stored.held.items() for lease_id in ids}
    assert held == {one: lease.holder for one, (_, lease) in ballot.leases().items()}
    for asked in ballot.queries.values():
        names = [lease.labeler for lease in asked.leases.values()]
        assert len(set(names)) == len(names) <= at_once(rules)
        assert not set(names) & ballot.votes.get(asked.row, {}).keys()


def difference(stored: Mapping[str, Stored], streams: Iterable[Stream]) -> str:
    """The first difference between streams and Redis in leases and waiters; empty if none."""
    for stream in streams:
        for name, one in stored.items():
            known = {lease for lease, given in stream.open.items() if given.session == name}
            if known != set(one.held.get(stream.holder, [])):
                return f"{stream.holder} has {one.held.get(stream.holder)}, knows of {known}"
            asks = one.fields["state"] == "LABELING" and len(stream.open) < stream.credit
            if asks and stream.holder not in one.waiting:
                return f"{stream.holder} is forgotten: {stream.credit}\n{stream.recent_messages()}"
    return ""


def check_answers(
    transcript: Transcript, stored: Stored, events: list[common_pb2.LabelEvent]
) -> Counter[str]:
    """Check that each acknowledged answer is in the log once, with its effect, and no refused one.

    Returns the number of answers by outcome.
    """
    assert [_entry(event) for event in events] == stored.log, "ListLabels differs from Redis"
    found = {event.answer_id: event for event in events}
    assert len(found) == len(events), "an answer with two effects"
    assert found.keys() <= transcript.answers.keys()
    ends: Counter[str] = Counter()
    for answer_id, sent in transcript.answers.items():
        event = found.get(answer_id)
        acks = [one.reply for one in sent if isinstance(one.reply, oracle_pb2.Ack)]
        for one in sent:
            ends[_check_reply(one, event)] += 1
        receipts = {_receipt(ack) for ack in acks}
        assert len(receipts) < 2, "another receipt"
        if event is None:
            ends["without effect"] += 1
        else:
            assert any(_is_of(event, one) for one in sent)
            ends[common_pb2.LabelEvent.Kind.Name(event.kind)] += 1
    return ends


def _check_reply(sent: SentItem, event: common_pb2.LabelEvent | None) -> str:
    """Check the reply to an item; return its kind."""
    reply = sent.reply
    if reply is None:
        return "no reply"
    is_stored = event is not None and _is_of(event, sent)
    if isinstance(reply, oracle_pb2.Reject):
        reason = str(error_info(reply.status).reason)
        if reason == "ANSWER_ID_REUSED":
            assert event is not None
            assert not is_stored, "refused as another answer"
        return reason
    assert event is not None, f"acknowledged and lost: {sent}"
    assert is_stored
    assert reply.event_id == event.event_id
    unused = event.kind == common_pb2.LabelEvent.KIND_UNUSED
    assert reply.disposition == (reply.DISPOSITION_UNUSED if unused else reply.DISPOSITION_APPLIED)
    return "Ack"


def _is_of(event: common_pb2.LabelEvent, sent: SentItem) -> bool:
    """Whether the entry of the log stems from the item."""
    item = sent.item
    if isinstance(item, oracle_pb2.Retract):
        of = item.of_labeler or sent.labeler
        return (event.kind == event.KIND_RETRACTED and event.labeler == of
                and event.observation_id == item.observation_id)  # fmt: skip
    assert isinstance(item, oracle_pb2.Answer)
    return (
        event.kind in (event.KIND_LABELED, event.KIND_UNUSED)
        and event.labeler == sent.labeler
        and event.verdict == item.verdict
        and event.query == item.query
        and item.observation_id in ("", event.observation_id)
    )


def _receipt(ack: oracle_pb2.Ack) -> bytes:
    """An Ack without the id of its request, which is another one in each repeat."""
    receipt = oracle_pb2.Ack()
    receipt.CopyFrom(ack)
    receipt.ClearField("request_id")
    return receipt.SerializeToString(deterministic=True)


def _entry(event: common_pb2.LabelEvent) -> LogEntry:
    kind = common_pb2.LabelEvent.Kind.Name(event.kind).removeprefix("KIND_")
    verdict = VERDICTS.get(event.verdict, 0)
    answer_id, decides = event.answer_id, event.adjudicates
    return kind, event.row, verdict, event.labeler, event.query, answer_id, decides
