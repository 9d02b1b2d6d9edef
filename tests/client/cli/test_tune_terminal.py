"""``svddtune tune`` by hand on a real terminal, interrupted and gone on with."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.client.cli.hints import hints
from tests.client.scene import blob
from tests.client.terminal.terminal import Terminal

from svddtune.client import EmbeddedStack, SvddModel, TuningResult, Verdict, tune
from svddtune.client.cli.app import run
from svddtune.client.runs.kept import kept_runs

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

X, Y = blob(31)
BUDGET = 6
# Pressed sooner a key is not taken: it was meant for the question before.
GUARD_S = 0.25
TUNE = ("tune", "data.csv", "--budget", str(BUDGET), "--strategy", "lama", "--seed", "4")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{a!r},{b!r}\n" for a, b in X.tolist())
    (tmp_path / "data.csv").write_text("width,height\n" + rows)
    return tmp_path


def key_for(observation: str) -> str:
    return "i" if Y[int(observation)] > 0 else "o"


def next_question(terminal: Terminal, before: str = "") -> str:
    """Wait for a question other than that before, and until keys are taken."""

    def asked(window: str) -> str:
        found = re.search(r"^Query \d+   observation (\d+)$", window, re.MULTILINE)
        return found[1] if found and "[q]uit" in window else ""

    terminal.expect(lambda window: asked(window) not in ("", before), timeout_s=60)
    terminal.rest(GUARD_S)
    return asked(terminal.screen.window)


def answer(terminal: Terminal, count: int, before: str = "") -> list[str]:
    """Answer so many questions rightly; the observations asked about."""
    asked: list[str] = []
    for _ in range(count):
        before = next_question(terminal, before)
        asked.append(before)
        terminal.press(key_for(before))
    return asked


def undisturbed() -> TuningResult:
    options: dict[str, Any] = {"budget": BUDGET, "strategy": "lama", "seed": 4}
    return tune(X, lambda query: int(Y[query.row]), workers=1, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=[pytest.mark.slow, pytest.mark.thorough]),
        pytest.param(signal.SIGHUP, 129, marks=[pytest.mark.slow, pytest.mark.thorough]),
    ],
)
def test_interrupted_person_goes_on_to_the_same_result(
    home: Path, number: signal.Signals, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with Terminal(*TUNE, columns=120) as terminal:
        asked = answer(terminal, 2)
        last = next_question(terminal, asked[-1])
        terminal.signal(number)
        assert terminal.wait(40) == code
        text = terminal.screen.text
    (kept,) = kept_runs()
    assert kept.answers == 2
    assert (
        f"Your 2 answers are kept in {kept.folder}; continue with: svddtune resume"
        in text.replace("\n", "")
    )
    assert run(["resume", "--list"]) == 0
    (suggested,) = hints(capsys.readouterr().err)
    assert suggested == ["resume", kept.name]
    with Terminal(*suggested, columns=120) as terminal:
        assert next_question(terminal) == last
        terminal.press(key_for(last))
        asked += [last, *answer(terminal, BUDGET - 3, last)]
        assert terminal.wait(60) == 0
    document = json.loads((kept.folder / "result.json").read_text())
    expected = undisturbed()
    assert tuple(asked) == expected.queries == tuple(document["queries"])
    assert (document["gamma"], document["C"]) == (expected.gamma, expected.C)
    model = Path(document["files"]["model"])
    assert model.parent == kept.folder
    assert SvddModel.load(model).gamma == expected.gamma
    assert kept_runs() == []


@pytest.mark.slow
def test_person_interrupted_at_a_service_goes_on_with_the_suggested_command(
    home: Path, stack: EmbeddedStack
) -> None:
    at = ("--server", stack.address, "--required-tag", "german")
    with Terminal(*TUNE, *at, columns=400) as terminal:
        asked = answer(terminal, 2)
        last = next_question(terminal, asked[-1])
        terminal.signal(signal.SIGINT)
        assert terminal.wait(40) == 130
        (suggested,) = hints(terminal.screen.text)
    assert suggested[0] == "label"
    assert suggested[suggested.index("--tag") + 1] == "german"
    with Terminal(*suggested, columns=160) as terminal:
        answer(terminal, BUDGET - 2)
        terminal.expect("Finished: ")
        assert terminal.wait(60) == 0
    assert last not in asked


@pytest.mark.slow
def test_person_who_quits_may_have_the_result_at_once(home: Path) -> None:
    with Terminal(*TUNE, "--out", "found") as terminal:
        asked = answer(terminal, 2)
        next_question(terminal, asked[-1])
        terminal.press("?")
        terminal.expect("takes back your last answer")
        terminal.press(" ")
        terminal.rest(GUARD_S)
        terminal.press("q")
        terminal.expect("Compute the result from 2 labels now?")
        terminal.press("y\n")
        assert terminal.wait(60) == 0
    document = json.loads((home / "found" / "result.json").read_text())
    assert [one["verdict"] for one in document["asked"]] == [
        Verdict.of(int(Y[int(row)])).value for row in asked
    ]
    assert sorted(path.name for path in (home / "found").iterdir()) == [
        "model.npz",
        "outside.csv",
        "picture.png",
        "result.json",
    ]
    assert not [*(home / "state").rglob("run*")] or kept_runs() == []


def test_run_of_a_program_is_gone_on_with_in_python(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stops(query: Any) -> int:
        if query.number > 1:
            raise KeyboardInterrupt
        return 1

    with pytest.raises(KeyboardInterrupt):
        tune(X, stops, budget=BUDGET, strategy="lama", workers=1, name="mine")
    assert run(["resume"]) == 2
    assert "begun in Python" in capsys.readouterr().err
    assert run(["resume", "--list"]) == 0
    assert re.search(r"mine-\S+ .* 1 +6 ", capsys.readouterr().out)
    assert run(["resume", "--list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    assert (listed["answers"], listed["budget"], listed["running"]) == (1, BUDGET, False)
