"""``svddtune labelers``: who labelled, agreement, and leaving one out."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.client.scene import blob

from svddtune.client import EmbeddedStack, LabelCounts, Session, TuningClient, WithdrawalEffect
from svddtune.client.cli.app import run
from svddtune.client.cli.labelers import effect_lines

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def voted(stack: EmbeddedStack, client: TuningClient) -> Iterator[Session]:
    """Two labelers on six observations; they disagree on two."""
    # The budget is what both answer: nobody is asked a seventh.
    session = client.create_session(client.upload_dataset(blob(30)[0]), budget=6, overlap=2)
    for labeler, odd in (("ann", "outlier"), ("bob", "inlier")):
        with client.tuning(session, labeler=labeler) as tuning:
            for number in range(6):
                query = tuning.next_query(timeout_s=60)
                assert query is not None
                tuning.answer(query, odd if number < 2 else "inlier")
    yield session
    client.delete_session(session)


def document(printed: str) -> Any:
    return json.loads(printed, parse_constant=pytest.fail)


@pytest.mark.integration
def test_table_shows_labelers_and_agreement(
    stack: EmbeddedStack, voted: Session, capsys: Printed
) -> None:
    number = voted.name.removeprefix("sessions/")
    assert run(["labelers", number, "--server", stack.address]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["ann", "6", "4", "2"],
        ["bob", "6", "6", "0"],
    ]
    assert "On 6 observations with two votes or more: 67% of the pairs of votes agree" in out
    assert "Cohen's kappa 0," in out


@pytest.mark.integration
def test_json_has_every_figure_and_null_for_what_is_not_defined(
    stack: EmbeddedStack, voted: Session, capsys: Printed
) -> None:
    assert run(["labelers", voted.name, "--server", stack.address, "--json"]) == 0
    found = document(capsys.readouterr().out)
    ann = found["labelers"][0]
    assert (ann["labeler"], ann["asked"], ann["compared"]) == ("ann", 6, 6)
    assert ann["agreement"] == pytest.approx(4 / 6)
    assert ann["self_consistency"] is None
    assert found["agreement"]["observed"] == pytest.approx(4 / 6)


@pytest.mark.integration
def test_agreement_is_shown_and_written_pair_by_pair(
    stack: EmbeddedStack, voted: Session, tmp_path: Path, capsys: Printed
) -> None:
    server = ["--server", stack.address]
    path = tmp_path / "agreement.csv"
    assert run(["session", "agreement", voted.name, *server, "-o", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:4] == ["ann", "bob", "6", "67%"]
    assert max(map(len, lines)) <= 80
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert (row["both_inlier"], row["outlier_inlier"], row["cohen_kappa"]) == ("4", "2", "0.0")
    command = ["session", "agreement", voted.name, *server, "--by", "provenance", "--json"]
    assert run(command) == 0
    (pair,) = document(capsys.readouterr().out)["pairs"]
    assert (pair["first"], pair["second"], pair["cohen_kappa"]) == ("", "", None)
    assert pair["compared"] == 6


@pytest.mark.integration
def test_labeler_is_left_out_and_let_in_again(
    stack: EmbeddedStack, client: TuningClient, voted: Session, capsys: Printed
) -> None:
    server = ["--server", stack.address]
    assert run(["labelers", "withdraw", voted.name, "bob", "--preview", *server]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Withdrawing bob: 6 votes become void\n")
    assert "4 (4 inlier, 0 outlier) -> 6 (4 inlier, 2 outlier)" in out
    assert max(map(len, out.splitlines())) <= 80
    assert not client.list_labelers(voted)[0][1].withdrawn
    assert run(["labelers", "withdraw", voted.name, "bob", "--yes", "--json", *server]) == 0
    assert document(capsys.readouterr().out)["votes"] == 6
    assert run(["labelers", voted.name, *server]) == 0
    assert "bob (withdrawn)" in capsys.readouterr().out
    assert run(["labelers", "reinstate", voted.name, "bob", *server]) == 0
    assert capsys.readouterr().out.startswith("Reinstated bob: 6 votes count again")
    assert not client.list_labelers(voted)[0][1].withdrawn


class Terminal(io.StringIO):
    """Keys pressed at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.integration
@pytest.mark.parametrize(("key", "code", "withdrawn"), [("n", 1, False), ("y", 0, True)])
def test_person_is_shown_the_effect_and_asked(
    stack: EmbeddedStack,
    client: TuningClient,
    voted: Session,
    capsys: Printed,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    code: int,
    withdrawn: bool,
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{key}\n"))
    assert run(["labelers", "withdraw", voted.name, "ann", "--server", stack.address]) == code
    assert "6 votes become void" in capsys.readouterr().err
    assert client.list_labelers(voted)[0][0].withdrawn is withdrawn


@pytest.mark.integration
def test_unknown_labeler_and_session_are_reported(
    stack: EmbeddedStack, voted: Session, capsys: Printed
) -> None:
    server = ["--server", stack.address]
    assert run(["labelers", "withdraw", voted.name, "eve", "--yes", *server]) == 1
    assert "UNKNOWN_LABELER" in capsys.readouterr().err
    assert run(["labelers", "none", *server]) == 1
    assert "SESSION_NOT_FOUND" in capsys.readouterr().err


@pytest.mark.integration
def test_session_without_labelers_is_reported_as_such(
    stack: EmbeddedStack, client: TuningClient, capsys: Printed
) -> None:
    session = client.create_session(client.upload_dataset(blob(31)[0]))
    assert run(["labelers", session.name, "--server", stack.address]) == 0
    assert "Nobody has labelled" in capsys.readouterr().err


def test_withdrawal_without_confirmation_is_refused(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["labelers", "withdraw", "s", "bob", "--json"]) == 2
    assert "--preview" in capsys.readouterr().err


def test_effect_of_a_withdrawal_is_written_in_singular_or_plural() -> None:
    counts = LabelCounts(1, 0, 0, 1)
    one = WithdrawalEffect(1, 1, 0, 0, 1, counts, LabelCounts(), None, None)
    text = "\n".join(effect_lines(one, "Withdrew bob", void=True))
    assert "1 vote becomes void" in text
    assert "observations that lose their label: 1" in text
    assert "queries reopened: 1" in text
    many = WithdrawalEffect(2, 0, 0, 2, 0, LabelCounts(), counts, None, None)
    text = "\n".join(effect_lines(many, "Reinstated bob", void=False))
    assert "2 votes count again" in text
    assert "queries reopened: 0" in text


@pytest.mark.integration
def test_control_items_of_a_file_show_how_far_labelers_can_be_trusted(
    stack: EmbeddedStack, client: TuningClient, tmp_path: Path, capsys: Printed
) -> None:
    dataset = client.upload_dataset(blob(30)[0])
    known = tmp_path / "known.csv"
    known.write_text("id,label\n3,outlier\n7,inlier\n")
    server = ["--server", stack.address]
    settings = ["--budget", "4", "--control-share", "0.5", "--controls", str(known)]
    assert run(["session", "create", dataset.name, *settings, *server, "--json"]) == 0
    name = document(capsys.readouterr().out)["name"]
    checked: list[str] = []
    with client.tuning(name, labeler="ann") as tuning:
        while len(checked) < 2:
            query = tuning.next_query(timeout_s=60)
            assert query is not None
            tuning.answer(query, "inlier")
            checked += [query.observation_id] if query.observation_id in ("3", "7") else []
    assert sorted(checked) == ["3", "7"]
    assert {event.kind for event in client.labels(name)} == {"labeled", "checked"}
    ((report,), _) = client.list_labelers(name)
    assert (report.controls, report.controls_right, report.outlier_controls) == (2, 1, 1)
    assert report.trust == pytest.approx(5 / 7)
    assert run(["labelers", name, *server]) == 0
    out = capsys.readouterr().out
    assert "ann: 1 of 2 control items right (0 of 1 outlier), trust 71%" in out
    client.delete_session(name)
