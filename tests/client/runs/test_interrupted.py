"""Runs that are interrupted: their answers survive, and going on ends as if nothing had been."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.client.scene import blob
from tests.waiting import wait_until

from svddtune.client import (
    Conflict,
    EmbeddedStack,
    InvalidInput,
    NotFound,
    Query,
    TuningResult,
    Verdict,
    interruption,
    tune,
)
from svddtune.client.runs.kept import kept_runs

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

X, Y = blob(30)
BUDGET = 8
# Without the atlas a run starts sooner.
OPTIONS: dict[str, Any] = {
    "budget": BUDGET,
    "seed": 3,
    "workers": 1,
    "name": "blob",
    "strategy": "lama",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder without runs of other tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture(scope="module")
def undisturbed() -> TuningResult:
    return tune(X, truth, **OPTIONS)


def truth(query: Query) -> int:
    return int(Y[query.row])


def ends_at(count: int, error: BaseException) -> Callable[[Query], int]:
    """An oracle that raises instead of giving its answer number `count`, counted from 0."""
    given: list[int] = []

    def oracle(query: Query) -> int:
        if len(given) == count:
            raise error
        given.append(query.row)
        return truth(query)

    return oracle


def same(one: TuningResult, other: TuningResult) -> bool:
    figures = (one.gamma, one.C, one.quality.value, one.queries)
    return figures == (other.gamma, other.C, other.quality.value, other.queries)


class Mine(Exception):
    pass


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("error", [KeyboardInterrupt(), Mine("no")])
def test_run_that_the_oracle_ends_goes_on_to_the_same_result(
    error: BaseException, undisturbed: TuningResult
) -> None:
    with pytest.raises(type(error)) as raised:
        tune(X, ends_at(3, error), **OPTIONS)
    assert raised.value is error
    left = interruption(error)
    assert left is not None
    expected = {a.observation_id: a.verdict for a in undisturbed.asked[:3]}
    assert left.labels == expected
    assert left.folder is not None
    assert left.folder.is_dir()
    assert any("3 answers are kept in" in note and left.resume in note for note in error.__notes__)
    assert [(run.answers, run.running) for run in kept_runs()] == [(3, False)]
    asked: list[int] = []

    def goes_on(query: Query) -> int:
        asked.append(query.row)
        return truth(query)

    resumed = tune(X, goes_on, resume=left.resume)
    assert same(resumed, undisturbed)
    assert asked == [a.row for a in undisturbed.asked[3:]]
    assert kept_runs() == []
    assert not left.folder.exists()


@pytest.mark.slow
def test_run_without_answers_leaves_nothing(home: Path) -> None:
    with pytest.raises(KeyError) as raised:
        tune(X, ends_at(0, KeyError("typo")), **OPTIONS)
    left = interruption(raised.value)
    assert left is not None
    assert (left.labels, left.resume) == ({}, "")
    assert not [*(home / "state").rglob("run.json")]


@pytest.mark.slow
@pytest.mark.thorough
def test_run_with_the_atlas_goes_on_to_the_same_result() -> None:
    options = OPTIONS | {"strategy": "knowledge_gradient"}
    with pytest.raises(KeyboardInterrupt) as raised:
        tune(X, ends_at(5, KeyboardInterrupt()), **options)
    left = interruption(raised.value)
    assert left is not None
    assert same(tune(X, truth, resume=left.resume), tune(X, truth, **options))


@pytest.mark.slow
@pytest.mark.thorough
def test_completed_run_leaves_nothing_but_its_storage(home: Path) -> None:
    tuned = tune(X, Y, storage=home / "kept", **OPTIONS)
    assert kept_runs() == []
    with pytest.raises(Conflict) as refused:
        tune(X, Y, storage=home / "kept", **OPTIONS)
    assert refused.value.reason == "STORAGE_HOLDS_RUN"
    again = tune(None, Y, resume=home / "kept")
    assert same(again, tuned)
    more = tune(X, Y, resume=home / "kept", budget=BUDGET + 2)
    assert more.quality.counts.total == BUDGET + 2
    assert more.queries[: len(tuned.queries)] == tuned.queries


@pytest.mark.slow
@pytest.mark.thorough
def test_resumed_run_with_known_labels_gives_the_remaining_ones(undisturbed: TuningResult) -> None:
    some = {str(row): int(Y[row]) for row in range(0, 60, 3)}
    given: list[int] = []

    def stop(progress: Any) -> None:
        given.append(progress.counts.total)
        if progress.counts.total == 7:
            raise KeyboardInterrupt

    options = OPTIONS | {"budget": 15, "strategy": "random"}
    with pytest.raises(KeyboardInterrupt) as raised:
        tune(X, some, on_progress=stop, **options)
    left = interruption(raised.value)
    assert left is not None
    resumed = tune(X, some, resume=left.folder)
    undisturbed = tune(X, some, **options)
    assert (resumed.gamma, resumed.C) == (undisturbed.gamma, undisturbed.C)
    assert resumed.quality.counts == undisturbed.quality.counts


@pytest.mark.slow
def test_other_data_or_options_are_refused_and_the_run_stays(home: Path) -> None:
    folder = home / "kept"
    with pytest.raises(KeyboardInterrupt):
        tune(X, ends_at(1, KeyboardInterrupt()), storage=folder, **OPTIONS)
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (X + 1, {}, "RESUME_OTHER_DATA"),
        (X[:50], {}, "RESUME_OTHER_DATA"),
        (X, {"seed": 4}, "RESUME_OTHER_OPTIONS"),
        (X, {"scaling": "minmax"}, "RESUME_OTHER_OPTIONS"),
        (X, {"budget": 61}, "BUDGET_TOO_LARGE"),
    ]
    for rows, options, reason in wrong:
        with pytest.raises(InvalidInput) as refused:
            tune(rows, truth, resume=folder, **options)
        assert refused.value.reason == reason
    assert tune(X, truth, resume=folder, seed=OPTIONS["seed"]).quality.counts.total == BUDGET


def test_unknown_run_is_refused(home: Path) -> None:
    with pytest.raises(NotFound) as refused:
        tune(X, truth, resume="nothing")
    assert refused.value.reason == "RUN_NOT_FOUND"


def test_session_at_a_server_goes_on(stack: EmbeddedStack, undisturbed: TuningResult) -> None:
    options = {key: OPTIONS[key] for key in ("budget", "seed", "name", "strategy")}
    at: dict[str, Any] = {"server": stack.address, "labeler": "ann"}
    with pytest.raises(KeyboardInterrupt) as raised:
        tune(X, ends_at(2, KeyboardInterrupt()), **options, **at)
    left = interruption(raised.value)
    assert left is not None
    assert left.server == stack.address
    assert left.resume.startswith("sessions/")
    with pytest.raises(InvalidInput) as refused:
        tune(X + 1, truth, resume=left.resume, **options, **at)
    assert refused.value.reason == "RESUME_OTHER_DATA"
    # The settings of the session hold, its budget too.
    assert same(tune(X, truth, resume=left.resume, **at), undisturbed)


_PROGRAM = """
import sys, time
from tests.client.scene import blob
from svddtune.client import tune
X, Y = blob(30)
given = []
def oracle(query):
    if len(given) == int(sys.argv[1]):
        print("waits", flush=True)
        time.sleep(600)
    given.append(query)
    return int(Y[query.row])
tune(X, oracle, budget=8, seed=3, workers=1, name="blob", strategy="lama")
"""


def family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == pid:
            yield from family(int(entry.name))
    yield pid


def exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "whole_family"),
    [
        pytest.param(signal.SIGINT, False, marks=[pytest.mark.slow, pytest.mark.thorough]),
        pytest.param(signal.SIGTERM, False, marks=[pytest.mark.slow, pytest.mark.thorough]),
        pytest.param(signal.SIGHUP, False, marks=[pytest.mark.slow, pytest.mark.thorough]),
        (signal.SIGKILL, False),
        pytest.param(signal.SIGKILL, True, marks=[pytest.mark.slow, pytest.mark.thorough]),
    ],
)
def test_killed_run_goes_on_to_the_same_result(
    undisturbed: TuningResult, number: signal.Signals, whole_family: bool
) -> None:
    count = int(np.random.default_rng(number + whole_family).integers(1, BUDGET))
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(count)], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        (run,) = kept_runs()
        assert run.running
        with pytest.raises(Conflict, match="another process"):
            tune(X, truth, resume=run.name)
        everybody = list(family(process.pid))
        for pid in everybody if whole_family else [process.pid]:
            os.kill(pid, number)
        process.wait(timeout=30)
    # At once, while what the process has started may still be ending.
    resumed = tune(X, truth, resume=run.name)
    assert same(resumed, undisturbed)
    assert resumed.asked[0].verdict is Verdict.of(int(Y[resumed.asked[0].row]))
    wait_until(lambda: not any(exists(pid) for pid in everybody), timeout_s=20)
