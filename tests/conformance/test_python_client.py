"""The Python client conforms: every script is played to it, every vector passed through it."""

import asyncio
import sys

import pytest
from conformance import script, vectors
from conformance.program import ROOT, Client, play_to_client
from conformance.script import Script

PYTHON = Client([sys.executable, str(ROOT / "conformance" / "clients" / "python" / "labeler.py")])


@pytest.mark.parametrize("played", script.load("clients"), ids=lambda one: one.name)
def test_client_does_what_the_script_expects(played: Script) -> None:
    outcome = asyncio.run(play_to_client(PYTHON, played))
    assert outcome.word == "passed", "\n".join([outcome.failure, *outcome.transcript])


def test_client_reads_all_vectors() -> None:
    outcomes = asyncio.run(vectors.check(PYTHON))
    assert {one.name for one in outcomes} == {vector["name"] for vector in vectors.load()}
    assert [(one.name, one.failure) for one in outcomes if one.word != "passed"] == []
