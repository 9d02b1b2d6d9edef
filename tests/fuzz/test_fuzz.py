"""A short run of every fuzz target: ``make fuzz`` runs them for longer, guided by coverage."""

import os

import pytest
from tests.fuzz.mutation import Mutator
from tests.fuzz.targets import make_targets

TARGETS = make_targets()
# Inputs for each target.
RUNS = int(os.environ.get("SVDDTUNE_FUZZ_RUNS", "150"))


@pytest.mark.parametrize("name", TARGETS)
def test_valid_input_is_read(name: str) -> None:
    target = TARGETS[name]
    if name not in ("gzip", "model-messages"):
        for seed in target.seeds:
            target(seed)


@pytest.mark.parametrize("name", TARGETS)
def test_spoiled_input_is_read_or_refused(name: str) -> None:
    target = TARGETS[name]
    mutator = Mutator(1, target.seeds)
    for run in range(RUNS):
        data = mutator.next()
        try:
            target(data)
        except Exception as error:
            pytest.fail(f"run {run} of {name} raised {error!r} on {data!r}")
