"""Folders of runs: found by name, one process' at a time, removed when they are old."""

import logging
import os
import time
from pathlib import Path

import numpy as np
import pytest

from svddtune.client import Conflict, InvalidInput, NotFound, Unavailable
from svddtune.client.runs.kept import KEEP_DAYS, KeptRun, RunData, kept_runs, tidy

DATA = RunData(np.arange(6.0).reshape(3, 2), ["a", "b", "\u00fc\0"], ["x", "y"], [{"k": "v"}] * 3)
OPTIONS = {"config": {"budget": 9}}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def begun(title: str = "blob") -> KeptRun:
    run = KeptRun.create(DATA, OPTIONS, title=title)
    run.store.mkdir()
    return run


def test_run_is_found_by_its_folder_its_name_and_the_start_of_it() -> None:
    run = begun("sh ift/../1")
    run.answered(4)
    run.close()
    assert run.name.startswith("sh-ift-..-1-")
    for which in (run.folder, str(run.folder), run.name, "sh-ift"):
        again = KeptRun.open(which)
        assert (again.folder, again.token, again.options) == (run.folder, run.token, OPTIONS)
        data = again.data()
        np.testing.assert_array_equal(data.X, DATA.X)
        assert (data.ids, data.feature_names, data.display) == (
            DATA.ids,
            DATA.feature_names,
            DATA.display,
        )
        again.close()
    (listed,) = kept_runs()
    assert (listed.answers, listed.budget, listed.running) == (4, 9, False)


def test_name_that_several_begin_with_is_refused() -> None:
    first, second = begun(), begun()
    assert first.folder != second.folder
    with pytest.raises(InvalidInput) as refused:
        KeptRun.open("blob")
    assert refused.value.reason == "RUN_AMBIGUOUS"
    with pytest.raises(NotFound, match=second.name):
        KeptRun.open("other")
    first.remove()
    second.remove()
    assert kept_runs() == []


def test_run_in_use_is_refused_and_stays_when_it_is_old() -> None:
    run = begun()
    with pytest.raises(Conflict) as refused:
        KeptRun.open(run.name)
    assert refused.value.reason == "RUN_IN_USE"
    tidy(time.time() + (KEEP_DAYS + 1) * 86_400)
    assert [one.running for one in kept_runs()] == [True]


def test_old_run_is_removed_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    old, young = begun("old"), begun("young")
    old.close()
    young.close()
    before = time.time() - (KEEP_DAYS + 1) * 86_400
    os.utime(old.folder / "run.json", (before, before))
    with caplog.at_level(logging.WARNING):
        begun("third").close()
    assert {one.title for one in kept_runs()} == {"young", "third"}
    assert f"Removed the interrupted run {old.name}: untouched for 31 days" in caplog.text


def test_temporary_folder_is_used_where_the_state_folder_is_not_writable(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (home / "state").write_text("a file")
    monkeypatch.setattr("tempfile.tempdir", str(home))
    run = begun()
    assert run.folder.parent == home
    assert "Runs cannot be kept in" in caplog.text
    run.close()
    again = KeptRun.open(run.name)
    assert again.folder == run.folder
    again.remove()


def test_storage_that_cannot_be_written_is_refused(home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(Unavailable) as refused:
        KeptRun.create(DATA, OPTIONS, title="", storage=home / "file" / "sub")
    assert refused.value.reason == "STORAGE_UNUSABLE"


def test_storage_keeps_what_others_put_there(home: Path) -> None:
    folder = home / "kept"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    run = KeptRun.create(DATA, OPTIONS, title="", storage=folder)
    run.remove()
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
