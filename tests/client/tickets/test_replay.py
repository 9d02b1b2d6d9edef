"""Tickets in a real session: what is sent, what is not sent twice, what is taken back."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.client.scene import blob
from tests.client.tickets.exports import json_lines, ticket
from tests.waiting import wait_until

from svddtune.client import (
    EmbeddedStack,
    Session,
    TicketOracle,
    Tiers,
    TuningClient,
    Verdict,
    tune,
)
from svddtune.client.files.follow import Follower
from svddtune.client.tickets.identity import identity, source_reference
from svddtune.client.tickets.preview import preview
from svddtune.client.tickets.replay import Replay, Sent
from svddtune.client.tickets.serving import serve

pytestmark = pytest.mark.integration

IDS = [f"obs-{n}" for n in range(60)]
LABELER = "desk-replay"
X, Y = blob(3)


@pytest.fixture
def session(client: TuningClient) -> Iterator[Session]:
    dataset = client.upload_dataset(X, observation_ids=IDS)
    created = client.create_session(dataset, budget=20, seed=1, strategy="random")
    yield created
    if not client.get_session(created).state.ended:
        client.cancel_session(created)


def closed(row: int, **changes: Any) -> dict[str, Any]:
    word = "confirmed" if Y[row] == -1 else "false alarm"
    return ticket(f"SEC-{row}", word, row=IDS[row]) | changes


def replayed(
    client: TuningClient, session: Session, records: Any, desk: Path, **options: Any
) -> Sent:
    """One run of a replay with these tickets."""
    oracle = records if isinstance(records, TicketOracle) else TicketOracle(records, desk)
    options = {"unasked": True} | options
    credit = 0 if options["unasked"] else 1
    with client.tuning(session, labeler=LABELER, credit=credit) as tuning:
        replay = Replay(oracle, tuning, session.name, client.labels(session))
        serve(replay, oracle, tuning, **options)
    return replay.sent


def votes(client: TuningClient, session: Session) -> dict[str, tuple[str, Verdict | None, str]]:
    """Observation -> (kind, verdict, source) of the labeler's last word."""
    return {
        event.observation_id: (event.kind, event.verdict, event.source_reference)
        for event in client.labels(session)
        if event.labeler == LABELER
    }


def test_all_verdicts_are_given_once_corrected_and_taken_back(
    client: TuningClient, session: Session, desk: Path
) -> None:
    first = [closed(0), closed(1), closed(2), closed(3, verdict="benign"), closed(4, state="open")]
    sent = replayed(client, session, first, desk)
    assert (sent.labelled, sent.refused, sent.left) == (3, [], 0)
    assert set(votes(client, session)) == {IDS[0], IDS[1], IDS[2]}
    events = len(list(client.labels(session)))
    again = replayed(client, session, first, desk)
    assert again == Sent()
    assert len(list(client.labels(session))) == events

    other = "confirmed" if Y[1] == 1 else "false alarm"
    second = [closed(0), closed(1, verdict=other), closed(2, state="open"), closed(4)]
    sent = replayed(client, session, second, desk)
    assert (sent.labelled, sent.corrected, sent.retracted) == (1, 1, 1)
    said = votes(client, session)
    wrong = Verdict.OUTLIER if Y[1] == 1 else Verdict.INLIER
    assert said[IDS[1]] == ("labeled", wrong, "SEC-1")
    assert said[IDS[2]][0] == "retracted"
    assert client.get_session(session).counts.total == 3
    # Back to what was said first: not taken for the answer of then, sent again.
    sent = replayed(client, session, first, desk)
    assert (sent.labelled, sent.corrected, sent.retracted) == (1, 1, 1)
    assert votes(client, session)[IDS[1]][1] is (Verdict.INLIER if Y[1] == 1 else Verdict.OUTLIER)
    assert client.get_session(session).counts.total == 3


def test_queries_without_a_verdict_pass_to_people(
    client: TuningClient, session: Session, desk: Path
) -> None:
    known = [closed(row) for row in range(60) if row % 2]
    asked: list[str] = []

    def person() -> None:
        with client.tuning(session, labeler="ann", kind="human") as tuning:
            for query in tuning.queries():
                asked.append(query.observation_id)
                tuning.answer(query, "outlier" if Y[query.row] == -1 else "inlier")

    thread = threading.Thread(target=person)
    thread.start()
    sent = replayed(client, session, known, desk, unasked=False)
    thread.join(timeout=30)
    assert not thread.is_alive()
    done = client.wait_until_completed(session)
    assert done.counts.total == 20
    assert sent.answered + len(asked) == 20
    said = votes(client, session)
    assert len(said) == sent.answered
    assert all(int(name[4:]) % 2 and v[2] == f"SEC-{name[4:]}" for name, v in said.items())
    assert sent.answered
    assert sent.skipped
    assert any(int(name[4:]) % 2 == 0 for name in asked)


def test_the_same_step_taken_again_has_one_effect(
    client: TuningClient, session: Session, desk: Path
) -> None:
    """A run that was killed before it saw an acknowledgement, and the run after it."""
    other = "confirmed" if Y[0] == 1 else "false alarm"
    histories = [[closed(0), closed(1)], [closed(0, verdict=other), closed(1, state="open")]]
    for records in histories:
        log = list(client.labels(session))
        for _ in range(2):
            oracle = TicketOracle(records, desk)
            with client.tuning(session, labeler=LABELER, credit=0) as tuning:
                replay = Replay(oracle, tuning, session.name, log)
                serve(replay, oracle, tuning, unasked=True)
            assert replay.sent.refused == []
        assert len(list(client.labels(session))) == len(log) + 2


def test_tickets_tune_before_people_or_alone(stack: EmbeddedStack, desk: Path) -> None:
    oracle = TicketOracle([closed(row) for row in range(0, 60, 2)], desk)
    tiers = Tiers([oracle, lambda query: int(Y[query.row])])
    tuned = tune(X, tiers, ids=IDS, budget=16, strategy="random", server=stack.address)
    assert tuned.result.quality.counts.total == 16
    by_tickets, by_hand = tiers.report()
    assert (by_tickets.inlier + by_tickets.outlier, by_tickets.abstained) == (
        by_tickets.asked - by_hand.asked,
        by_hand.asked,
    )
    alone = TicketOracle([closed(row) for row in range(0, 60, 2)], desk, otherwise="drop")
    tuned = tune(X, alone, ids=IDS, budget=16, strategy="random", server=stack.address)
    assert all(
        asked.verdict is None or int(asked.observation_id[4:]) % 2 == 0 for asked in tuned.asked
    )
    assert tuned.result.manifest.provenances == {"desk 3": tuned.result.quality.counts.total}


def test_replay_ends_with_the_session(
    client: TuningClient, session: Session, desk: Path, tmp_path: Path
) -> None:
    oracle = TicketOracle((), desk)
    path = json_lines(tmp_path / "tickets.jsonl", [closed(0)])
    with (
        Follower(path, lambda _: None) as follower,
        client.tuning(session, labeler=LABELER, credit=0) as tuning,
    ):
        oracle.add(follower.poll())
        replay = Replay(oracle, tuning, session.name, ())
        replay.label_all()
        client.cancel_session(session)
        json_lines(path, [closed(1), closed(0, state="open")])
        oracle.add(follower.poll())
        assert serve(replay, oracle, tuning, unasked=True) in ("CANCELLED", "SESSION_NOT_ACTIVE")


def test_the_budget_limits_what_is_given(
    client: TuningClient, session: Session, desk: Path
) -> None:
    with client.tuning(session, labeler="ann", credit=0) as tuning:
        for row in range(5):
            tuning.label(IDS[row], "outlier" if Y[row] == -1 else "inlier")
    records = [closed(row) for row in range(10, 60)]
    sent = replayed(client, session, records, desk)
    assert (sent.labelled, sent.left) == (15, 35)
    assert client.wait_until_completed(session).counts.total == 20


@pytest.mark.parametrize("stream", [True, False])
def test_overrides_are_in_the_provenance_of_labels_and_manifest(
    client: TuningClient, session: Session, desk: Path, stream: bool
) -> None:
    chosen = [closed(row, verdict="benign") if Y[row] == 1 else closed(row) for row in range(60)]
    oracle = TicketOracle(chosen, desk, values={"benign": "inlier"})
    assert oracle.provenance == "desk 3, benign=inlier"
    with client.tuning(session, labeler="ann", credit=0, stream=stream) as tuning:
        tuning.label(IDS[0], "outlier" if Y[0] == -1 else "inlier")
    with client.tuning(
        session, labeler=LABELER, credit=0, provenance=oracle.provenance, stream=stream
    ) as tuning:
        replay = Replay(oracle, tuning, session.name, client.labels(session))
        serve(replay, oracle, tuning, unasked=True)
    client.wait_until_completed(session)
    said = {event.labeler: event.provenance for event in client.labels(session)}
    assert said == {"ann": "", LABELER: oracle.provenance}
    assert client.result(session).manifest.provenances == {oracle.provenance: 19}


def test_confidence_of_a_mapping_reaches_the_labels_and_its_change_corrects_them(
    client: TuningClient, session: Session, desk: Path
) -> None:
    records = [closed(0), closed(1, verdict="benign")]
    for said, corrected in (("inlier:0.8", 0), ("inlier:0.8", 0), ("inlier:0.6", 1), ("inlier", 1)):
        oracle = TicketOracle(records, desk, values={"benign": said})
        assert replayed(client, session, oracle, desk).corrected == corrected
    events = [(e.observation_id, e.verdict, e.confidence) for e in client.labels(session)]
    assert [event for event in events if event[0] == IDS[1]] == [
        (IDS[1], Verdict.INLIER, 0.8),
        (IDS[1], Verdict.INLIER, 0.6),
        (IDS[1], Verdict.INLIER, None),
    ]
    assert (IDS[0], Verdict.OUTLIER if Y[0] == -1 else Verdict.INLIER, None) in events


def test_refused_labels_are_reported_and_the_others_sent(
    client: TuningClient, session: Session, desk: Path
) -> None:
    records = [closed(0), ticket("SEC-x", row="obs-1000"), closed(1)]
    sent = replayed(client, session, records, desk)
    assert sent.labelled == 2
    assert [(r.observation_id, r.ticket, r.reason) for r in sent.refused] == [
        ("obs-1000", "SEC-x", "UNKNOWN_OBSERVATION")
    ]
    assert sent.to_dict()["refused"][0]["reason"] == "UNKNOWN_OBSERVATION"


def test_a_growing_file_is_followed(
    client: TuningClient, session: Session, desk: Path, tmp_path: Path
) -> None:
    path = json_lines(tmp_path / "tickets.jsonl", [closed(0)])
    oracle = TicketOracle((), desk)
    with Follower(path, pytest.fail) as follower:
        oracle.add(follower.poll())
        thread = threading.Thread(
            target=lambda: replayed(
                client, session, oracle, desk, follower=follower, interval_s=0.02
            )
        )
        thread.start()
        wait_until(lambda: IDS[0] in votes(client, session))
        with path.open("a") as file:
            json_lines(tmp_path / "more.jsonl", [closed(1), closed(0, state="open")])
            file.write((tmp_path / "more.jsonl").read_text())
        wait_until(lambda: votes(client, session).get(IDS[0], ("",))[0] == "retracted")
        wait_until(lambda: IDS[1] in votes(client, session))
        client.cancel_session(session)
        thread.join(timeout=20)
        assert not thread.is_alive()


def test_answers_to_queries_are_taken_back_where_a_followed_ticket_is_reopened(
    client: TuningClient, session: Session, desk: Path, tmp_path: Path
) -> None:
    """The session asks more than the tickets know, so it goes on while the file grows."""
    path = json_lines(tmp_path / "tickets.jsonl", [closed(row) for row in range(12)])
    oracle, stop, ended = TicketOracle((), desk), threading.Event(), list[str]()
    with (
        Follower(path, pytest.fail) as follower,
        client.tuning(session, labeler=LABELER) as tuning,
    ):
        oracle.add(follower.poll())
        replay = Replay(oracle, tuning, session.name, ())

        def follow() -> None:
            why = serve(
                replay,
                oracle,
                tuning,
                unasked=False,
                follower=follower,
                interval_s=0.02,
                stop=stop,
            )
            ended.append(why)

        thread = threading.Thread(target=follow)
        thread.start()
        wait_until(lambda: any(kind == "labeled" for kind, *_ in votes(client, session).values()))
        name = next(iter(votes(client, session)))
        again = json_lines(tmp_path / "more.jsonl", [closed(int(name[4:]), state="open")])
        with path.open("a") as file:
            file.write(again.read_text())
        wait_until(lambda: votes(client, session)[name][0] == "retracted")
        stop.set()
        thread.join(timeout=20)
        assert ended == ["stopped"]


def test_preview_compares_verdicts_with_the_votes_of_the_session(
    client: TuningClient, session: Session, desk: Path
) -> None:
    with client.tuning(session, labeler="ann", credit=0) as tuning:
        tuning.label(IDS[0], "outlier" if Y[0] == -1 else "inlier")
        tuning.label(IDS[1], "inlier" if Y[1] == -1 else "outlier")
    oracle = TicketOracle([closed(row) for row in range(3)], desk)
    before = preview(oracle, client.get_session(session), client.labels(session), LABELER)
    assert (before.room, before.verdicts, before.given) == (18, 3, 0)
    assert (before.agreeing, before.differing) == (1, 1)


def test_long_keys_are_cut_and_stay_apart() -> None:
    assert source_reference(identity("SEC-1")) == "SEC-1"
    assert source_reference(identity(7)) == "7"
    one, two = (source_reference(identity("\u00e9" * 300 + tail)) for tail in ("1", "2"))
    assert one != two
    assert len(one.encode()) <= 256
