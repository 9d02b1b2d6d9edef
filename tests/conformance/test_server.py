"""The service conforms: every script is played against it, with a worker of its own."""

import asyncio
import dataclasses

import pytest
from conformance import script
from conformance.driver import play_to_server
from conformance.script import Script

from svddtune.client import EmbeddedStack

SCRIPTS = {one.name: one for one in script.load("servers")}
PATIENCE_S = 2.0

# Script, number of a step, another step in its place, and what is found.
WRONG = [
    ("answer_repeated", 5, {"expect": {"ack": {"counts": {"total": 2}}}}, "got"),
    ("reject", 5, {"expect": {"reject": {"status": {}}}, "reason": "LEASE_LOST"}, "UNKNOWN_QUERY"),
    ("resume", 5, {"expect": {"assign": {"query": 2}}}, "got"),
    ("version_unsupported", 1, {"expect_status": {"code": "NOT_FOUND"}}, "INVALID_ARGUMENT"),
    ("version_unsupported", 1, {"expect_end": {}}, "ended with"),
    ("second_hello", 3, {"expect_nothing": 1}, "ended"),
    ("credit_0", 2, {"expect": {"assign": {}}}, "nothing came in time"),
    ("unasked_answer", 2, {"call": "TuningService/GetSession"}, "INVALID_NAME"),
]


@pytest.mark.parametrize("played", SCRIPTS.values(), ids=lambda one: one.name)
def test_service_does_what_the_script_expects(stack: EmbeddedStack, played: Script) -> None:
    outcome = asyncio.run(play_to_server(stack.address, played))
    assert outcome.word == "passed", "\n".join([outcome.failure, *outcome.transcript])


@pytest.mark.parametrize(("name", "index", "step", "found"), WRONG)
def test_script_that_expects_something_else_fails(
    stack: EmbeddedStack, name: str, index: int, step: dict[str, object], found: str
) -> None:
    right = SCRIPTS[name]
    steps = (*right.steps[:index], step, *right.steps[index + 1 :])
    wrong = dataclasses.replace(right, steps=steps)
    outcome = asyncio.run(play_to_server(stack.address, wrong, patience_s=PATIENCE_S))
    assert outcome.word == "failed"
    assert f"step {index + 1}," in outcome.failure
    assert found in outcome.failure
