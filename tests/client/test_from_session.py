"""A session of either client starts from the labels of another one."""

from pathlib import Path

import numpy as np
import pytest
from tests.client.flavours import Connect
from tests.client.scene import blob

from svddtune.client import (
    EmbeddedStack,
    InvalidInput,
    Label,
    NotFound,
    Session,
    TakenOver,
    TuningClient,
    Verdict,
    tune,
)
from svddtune.client.cli.app import run

pytestmark = pytest.mark.integration

X, Y = blob(21)
IDS = [f"obs-{row}" for row in range(len(X))]
KNOWN = [*np.flatnonzero(Y > 0)[:4].tolist(), *np.flatnonzero(Y < 0)[:3].tolist()]
LABELS = [Label(IDS[row], Verdict.of(int(Y[row])), confidence=0.9) for row in KNOWN]


def source(client: TuningClient, budget: int = 9, seed: int = 1) -> Session:
    """Create a session with seven initial labels; answer its queries to the result."""
    session = client.create_session(
        client.upload_dataset(X, observation_ids=IDS),
        initial_labels=LABELS,
        budget=budget,
        seed=seed,
        name=f"source {budget} {seed}",
    )
    with client.tuning(session, labeler="known-labels", provenance="desk 1") as tuning:
        for query in tuning.queries():
            tuning.answer(query, (int(Y[query.row]), 0.8))
    return client.wait_until_completed(session, timeout_s=60)


def test_labels_keep_labeler_confidence_and_origin(stack: EmbeddedStack, connect: Connect) -> None:
    client = connect(stack.address)
    try:
        first = source(client)
        session = client.create_session(first.dataset, from_session=first, budget=12)
        assert first.taken_over is None
        assert session.taken_over == TakenOver(first.name, taken=9, left_out=0)
        assert session.counts == first.counts
        before, after = list(client.labels(first)), list(client.labels(session))
        assert [(e.row, e.verdict, e.labeler, e.confidence, e.provenance) for e in after] == [
            (e.row, e.verdict, e.labeler, e.confidence, e.provenance) for e in before
        ]
        assert {e.origin for e in before} == {""}
        assert {e.origin for e in after} == {first.name}
        by_result = client.create_session(
            first.dataset, from_session=client.result(first), budget=12
        )
        assert by_result.taken_over == TakenOver(first.latest_result, taken=9, left_out=0)
    finally:
        client.close()


@pytest.mark.parametrize("strategy", ["lama", "mixed"])
def test_ranking_is_the_same_for_the_same_labels_and_settings(
    client: TuningClient, strategy: str
) -> None:
    first = source(client, seed=2)
    asked = []
    for _ in range(2):
        session = client.create_session(
            first.dataset, from_session=first, budget=14, seed=5, strategy=strategy
        )
        with client.tuning(session) as tuning:
            query = tuning.next_query(timeout_s=60)
            assert query is not None
            asked.append((query.row, query.score, query.why))
        client.cancel_session(session)
    assert asked[0] == asked[1]


def test_manifest_has_the_origins_and_certainties_of_the_first_result(client: TuningClient) -> None:
    first = source(client, seed=3)
    session = client.create_session(first.dataset, from_session=first, budget=10, seed=3)
    client.wait_until_completed(client.finish_session(session), timeout_s=60)
    before, after = client.result(first).manifest, client.result(session).manifest
    assert before.origins == {}
    assert after.origins == {first.name: 9}
    assert after.provenances == before.provenances == {"desk 1": 2}
    assert after.labeled_rows == before.labeled_rows
    assert after.certainties == before.certainties
    assert sorted(after.certainties) == pytest.approx([0.8] * 2 + [0.9] * 7)
    assert (client.result(session).gamma, client.result(session).C) == (
        client.result(first).gamma,
        client.result(first).C,
    )


def test_tune_starts_from_the_labels_of_a_session_on_part_of_its_rows(
    client: TuningClient, stack: EmbeddedStack
) -> None:
    first = source(client, seed=4)
    kept = [row for row in range(len(X)) if row != KNOWN[0]]
    tuned = tune(
        X[kept],
        Y[kept],
        ids=[IDS[row] for row in kept],
        from_session=first,
        budget=12,
        labeler="known-labels",
        server=stack.address,
    )
    assert tuned.session.taken_over == TakenOver(first.name, taken=8, left_out=1)
    assert len(tuned.initial) == 8
    assert len(tuned.asked) == 4
    assert {IDS[row] for row in KNOWN[1:]} <= tuned.initial.keys()
    assert {one.observation_id for one in tuned.asked}.isdisjoint(tuned.initial)
    assert tuned.to_dict()["taken_over"] == {"source": first.name, "taken": 8, "left_out": 1}


def test_budget_that_the_labels_spend_is_refused(client: TuningClient) -> None:
    first = source(client, seed=5)
    with pytest.raises(InvalidInput, match="give a budget above 9") as refused:
        client.create_session(first.dataset, from_session=first, budget=9)
    assert refused.value.reason == "BUDGET_TOO_SMALL"


def test_unknown_session_and_missing_result_are_refused(client: TuningClient) -> None:
    dataset = client.upload_dataset(X, observation_ids=IDS)
    with pytest.raises(NotFound) as refused:
        client.create_session(dataset, from_session="sessions/p00-" + "0" * 20)
    assert refused.value.reason == "SESSION_NOT_FOUND"
    empty = client.create_session(dataset)
    with pytest.raises(NotFound) as refused:
        client.create_session(dataset, from_session=f"{empty.name}/results/-")
    assert refused.value.reason == "RESULT_NOT_FOUND"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "name its server"),
        ({"server": "127.0.0.1:1", "resume": "sessions/x"}, "give one of them"),
    ],
)
def test_tune_refuses_a_session_that_it_cannot_start_from(
    options: dict[str, str], complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        tune(X, Y, from_session="sessions/x", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "which ends with the run: name a server"),
        ({"server": "127.0.0.1:1", "resume": "sessions/x"}, "give one of them"),
    ],
)
def test_tune_refuses_control_items_that_it_cannot_ask(
    options: dict[str, str], complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        tune(X, Y, controls={"1": "inlier"}, **options)  # type: ignore[arg-type]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SVDDTUNE_SERVER", raising=False)
    lines = ["id,a,b,class"]
    lines += [f"{IDS[row]},{a!r},{b!r},{Y[row]}" for row, (a, b) in enumerate(X.tolist())]
    Path("data.csv").write_text("\n".join(lines))


OPTIONS = ["data.csv", "--label-column", "class", "--id-column", "id", "--budget", "12"]


@pytest.mark.usefixtures("data")
def test_command_tunes_from_a_session_by_its_name(
    client: TuningClient, stack: EmbeddedStack, capsys: pytest.CaptureFixture[str]
) -> None:
    first = source(client, seed=6)
    given = ["--from", first.display_name, "--server", stack.address]
    assert run(["tune", *OPTIONS, *given]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "9 initial labels, 3 queries" in out
    assert f"Note: 9 labels were taken over from {first.name}." in out


@pytest.mark.usefixtures("data")
def test_command_simulates_from_a_result(
    client: TuningClient, stack: EmbeddedStack, capsys: pytest.CaptureFixture[str]
) -> None:
    first = source(client, seed=7)
    given = ["--from", first.latest_result, "--server", stack.address]
    assert run(["oracle", "simulate", *OPTIONS, *given]) == 0
    assert "12:" in capsys.readouterr().out
    newest = next(iter(client.list_sessions()))
    assert newest.taken_over == TakenOver(first.latest_result, taken=9, left_out=0)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("options", "complaint", "code"),
    [
        (["tune", *OPTIONS, "--from", "x"], "give its --server", 2),
        (["oracle", "simulate", *OPTIONS, "--from", "x"], "give its --server", 2),
        (["tune", *OPTIONS, "--from", "x", "--cold", "--server", "HERE"], "--cold starts", 2),
        (["tune", *OPTIONS, "--from", "none such", "--server", "HERE"], "'none such'", 1),
    ],
)
def test_command_refuses_a_session_in_one_line(
    stack: EmbeddedStack,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    complaint: str,
    code: int,
) -> None:
    given = [stack.address if one == "HERE" else one for one in options]
    assert run(given) == code
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert complaint in line
