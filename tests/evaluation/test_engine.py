"""Pieces of work in several processes: results, errors that name the unit, processes that die."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from svddtune.client.errors import InternalError
from svddtune.evaluation.engine import in_processes
from svddtune.evaluation.sets import BenchSet, find_sets
from svddtune.evaluation.store import Record
from svddtune.evaluation.units import Unit

COUNT = 3


@pytest.fixture
def units(tmp_path: Path) -> list[Unit]:
    y = np.where(np.arange(12) < 9, 1, -1)
    np.savez(tmp_path / "Glass.npz", X=np.arange(24.0).reshape(12, 2), y=y)
    (data,) = find_sets(tmp_path)
    return [unit(data, number) for number in range(COUNT)]


def unit(data: BenchSet, number: int) -> Unit:
    return Unit("rule", data, (("number", number),), 1.0, f"piece {number}")


def double(unit: Unit) -> Record:
    return {"number": 2 * int(dict(unit.parameters)["number"])}


def fail_at_the_second(unit: Unit) -> Record:
    if dict(unit.parameters)["number"] == 1:
        raise ZeroDivisionError("no such piece")
    return double(unit)


def die_at_the_second(unit: Unit) -> Record:
    if dict(unit.parameters)["number"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return double(unit)


@pytest.mark.parametrize("jobs", [2, COUNT + 1])
def test_every_unit_is_computed_once(units: list[Unit], jobs: int) -> None:
    seen: list[tuple[str, Record]] = []
    in_processes(units, double, jobs, lambda unit, record: seen.append((unit.what, record)))
    assert sorted(seen, key=lambda one: one[0]) == [
        (f"piece {number}", {"number": 2 * number}) for number in range(COUNT)
    ]


def test_exception_in_a_process_names_the_unit(units: list[Unit]) -> None:
    with pytest.raises(InternalError, match="piece 1: ZeroDivisionError: no such piece"):
        in_processes(units, fail_at_the_second, 2, lambda unit, record: None)


def test_killed_process_names_the_unit_it_computed(units: list[Unit]) -> None:
    with pytest.raises(InternalError, match="piece 1: the process ended"):
        in_processes(units, die_at_the_second, 2, lambda unit, record: None)
