"""``svddtune bench noise`` and ``svddtune bench parallel``: output, files and errors."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.test_command import kept, one_document, one_line

from svddtune.client.cli.app import run

SETTINGS = {
    "noise": {"clean", "single", "told", "always", "adaptive"},
    "parallel": {"1", *(f"{n} {order}" for n in (2, 5, 10) for order in ("oldest", "random"))},
}


def quick(command: str, data: Path, out: Path, *more: str) -> list[str]:
    """Arguments of a run that needs few seconds, in this process."""
    return [
        *("bench", command, "--data", str(data), "--out", str(out), "--seeds", "2", "--jobs", "1"),
        *("--methods", "default", "--sets", "Glass", *more),
    ]


def outcomes(document: Any, **wanted: object) -> list[Any]:
    return [one for one in document["outcomes"] if wanted.items() <= one.items()]


@pytest.mark.parametrize("command", SETTINGS)
def test_command_writes_document_table_page_and_picture(
    command: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    assert run(quick(command, data, out, "--write-docs", str(docs), "--json")) == 0
    document = one_document(capsys.readouterr().out)
    assert document == json.loads((out / f"{command}.json").read_text())
    assert set(document["settings"]) == SETTINGS[command]
    assert document["sets"] == ["Glass"]
    with (out / f"{command}.csv").open() as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 2 * len(SETTINGS[command])
    assert {run["seed"] for run in runs} == {"0", "1"}
    assert_page(docs / "evaluation.md", command, tmp_path)


def assert_page(path: Path, command: str, private: Path) -> None:
    page = path.read_text()
    assert f"svddtune bench {command} --data DIR --seeds 2" in page
    assert "--write-docs docs" in page
    assert "Conclusion:" in page
    assert str(private) not in page
    assert not re.search(r"\bnan\b|None|\{", page)
    pictures = list((path.parent / "evaluation").glob("*.png"))
    assert [picture.name for picture in pictures] == [f"{command}.png"]
    assert f"evaluation/{command}.png" in page


def test_noise_reports_cost_and_benefit_of_votes(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(quick("noise", data, tmp_path / "out", "--share", "0.2", "--json")) == 0
    document = one_document(capsys.readouterr().out)
    assert "--share 0.2" in document["command"]
    assert document["settings"]["single"]["wrong"] == 0.2
    found = {(one["setting"], one["per"]): one for one in outcomes(document, method="default")}
    assert len(found) == 2 * len(SETTINGS["noise"])
    assert found["clean", "observations"]["wrong"] == 0
    assert found["clean", "observations"]["loss"]["mean"] == 0
    assert found["single", "observations"]["back"]["mean"] == 0
    assert found["single", "votes"]["kappa"] == found["single", "observations"]["kappa"]
    votes = [found[name, "observations"]["votes_each"] for name in ("single", "adaptive", "always")]
    assert votes[0] == 1 < votes[1] < votes[2] <= 3
    labels = [found[name, "votes"]["observations"] for name in ("always", "adaptive", "single")]
    assert 17 <= labels[0] < labels[1] < labels[2] == 50
    wrong = [found[name, "observations"]["wrong"] for name in ("always", "single")]
    assert 0 < wrong[0] < wrong[1] < 0.4


@pytest.mark.slow
def test_commands_share_sessions_and_a_second_run_computes_nothing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(quick("noise", data, out, "--json")) == 0
    first, before = one_document(capsys.readouterr().out), kept(out)
    assert len(before) == 1 + 2 * 5
    assert run(quick("noise", data, out, "--json")) == 0
    assert one_document(capsys.readouterr().out)["outcomes"] == first["outcomes"]
    assert kept(out) == before
    assert run(quick("parallel", data, out, "--json")) == 0
    document, after = one_document(capsys.readouterr().out), kept(out)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 2 * 6
    alone = outcomes(document, open=1, order="oldest", labels=50)[0]["kappa"]
    assert alone == outcomes(first, setting="clean", per="observations")[0]["kappa"]


@pytest.mark.slow
def test_commands_print_tables_and_write_their_parts_of_one_page(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(quick("parallel", data, out)) == 0
    shown = capsys.readouterr().out
    assert "After 25 labels" in shown
    assert "10 open" in shown
    assert run(quick("paper", data, out, "--no-service")) == 0
    assert run(quick("noise", data, out)) == 0
    assert "always two votes" in capsys.readouterr().out
    page = (out / "evaluation.md").read_text()
    named = re.findall(r"^    svddtune bench (\w+)", page, re.MULTILINE)
    assert named == ["paper", "noise", "parallel"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["noise", "--data", "{data}", "--share", "0.5"], "--share"),
        (["noise", "--data", "{data}", "--share", "some"], "--share"),
        (["noise", "--data", "{data}", "--share", "nan"], "--share"),
        (["noise", "--data", "{data}", "--methods", "dfn_fix"], "dfn_fix"),
        (["parallel", "--data", "{data}", "--methods", "random"], "random"),
        (["parallel", "--data", "{data}", "--seeds", "0"], "--seeds"),
        (["parallel", "--data", "{data}", "--sets", "Nothing"], "Nothing"),
        (["parallel"], "--data"),
        (["tables", "--data", "{data}"], "tables"),
    ],
)
def test_wrong_arguments_give_one_line_error(
    arguments: Sequence[str], words: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", *(argument.format(data=data) for argument in arguments)]) == 2
    assert words in one_line(capsys)
