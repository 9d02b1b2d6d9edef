"""The clients of other languages conform: every script is played to them, every vector read."""

import asyncio

import pytest
from conformance.__main__ import play_all
from conformance.program import Client
from tests.clients.languages import OTHERS, ROOT, Language

# The first test of a client builds it.
pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    "language", [one for one in OTHERS if one.conformance], ids=lambda language: language.name
)
def test_client_conforms(language: Language) -> None:
    language.build_all()
    client = Client(language.conformance, ROOT / language.folder, language.abilities)
    outcomes = asyncio.run(play_all(client))
    assert len(outcomes) > 50
    failed = {one.name: one.failure for one in outcomes if one.word == "failed"}
    assert failed == {}
    assert {one.word for one in outcomes} <= {"passed", "not supported"}
