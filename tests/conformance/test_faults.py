"""Each script fails if the client has the fault that the script is there to find."""

import asyncio
import dataclasses
import json
import sys
from pathlib import Path

import pytest
from conformance import script, vectors
from conformance.program import Client, play_to_client
from tests.conformance.faulty_labeler import FAULTS

PROGRAM = Path(__file__).with_name("faulty_labeler.py")
SCRIPTS = {one.name: one for one in script.load("clients")}
# Frames that a fault keeps away are awaited for so long, in seconds.
PATIENCE_S = 4.0

# Fault, script, and what the script finds.
FOUND = [
    ("SendsNothingAgain", "answer_resent", "nothing came in time"),
    ("SendsNothingAgain", "drain_before_ack", "nothing came in time"),
    ("SendsNothingAgain", "release_reply_lost", "nothing came in time"),
    ("SendsNothingAgain", "skip_reply_lost", "nothing came in time"),
    ("SendsAgainWithNewId", "answer_resent", "-again"),
    ("SendsAgainWhatHasAnAck", "answer_not_resent_after_ack", "got"),
    ("UsesOneAnswerId", "answer_ids_differ", "are the same"),
    ("SendsNoHeartbeat", "heartbeat", "got"),
    ("DiesOnReject", "reject", "ended"),
    ("IgnoresDrain", "drain", "got"),
    ("SaysByeAtDrain", "drain", "the client said Bye"),
    ("ForgetsResumeToken", "resume_token", "got"),
    ("DiesOnUnknownItem", "unknown_item", "ended"),
    ("DiesOnUnknownEnumValue", "unknown_enum_values", "ended"),
    ("AnswersAlwaysOutlier", "hello_and_answers", "VERDICT_OUTLIER"),
    ("TakesOkForTheEnd", "stream_ends_with_ok", "ended before the script did"),
    ("TriesAgainForEver", "version_unsupported", "opened another stream"),
    ("TriesAgainForEver", "session_not_found", "opened another stream"),
    ("TriesAgainForEver", "credentials_expire", "opened another stream"),
    ("TriesAgainForEver", "credentials_refused", "opened another stream"),
    ("TriesAgainForEver", "role_too_low", "opened another stream"),
    ("TriesAgainForEver", "unavailable_then_success", "connected again after"),
    ("DiesIfUnavailable", "server_restarts", "ended before the script did"),
    ("CountsEveryAck", "duplicate_ack", "printed"),
    ("TakesAcksInOrder", "acks_in_any_order", "printed"),
    ("LeavesAtFinished", "ack_after_finished", "bye"),
    ("StaysAfterFinished", "finished_while_deciding", "nothing came in time"),
    ("KeepsTheFirstLease", "leases_partly_lost", "nothing came in time"),
    ("KeepsTheFirstLease", "revoked_query_comes_again", '"l1"'),
    ("DiesOnLostLease", "leases_all_lost", "ended"),
    ("DropsAckAfterRevoke", "revoke_before_ack", "nothing came in time"),
    ("CountsLateAnswers", "late_answer", "printed"),
    ("AsksForOneQuery", "credit_0", "got"),
]


def test_every_script_and_every_fault_is_tried() -> None:
    assert {name for _, name, _ in FOUND} == SCRIPTS.keys()
    assert {fault for fault, _, _ in FOUND} == FAULTS.keys() - {"NoFault"}


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize(("fault", "name", "found"), FOUND)
def test_script_finds_the_fault(fault: str, name: str, found: str) -> None:
    client = Client([sys.executable, str(PROGRAM), fault])
    outcome = asyncio.run(play_to_client(client, SCRIPTS[name], patience_s=PATIENCE_S))
    assert outcome.word == "failed"
    assert found in outcome.failure, "\n".join([outcome.failure, *outcome.transcript])


@pytest.mark.slow
@pytest.mark.thorough
def test_program_without_a_fault_passes_with_the_same_patience() -> None:
    client = Client([sys.executable, str(PROGRAM), "NoFault"])
    played = SCRIPTS["resume_token"]
    outcome = asyncio.run(play_to_client(client, played, patience_s=PATIENCE_S))
    assert outcome.word == "passed", "\n".join([outcome.failure, *outcome.transcript])


def test_client_without_an_ability_is_not_asked_for_it() -> None:
    client = dataclasses.replace(Client(["false"]), abilities=frozenset({"model"}))
    outcome = asyncio.run(play_to_client(client, SCRIPTS["credit_0"]))
    assert outcome.word == "not supported"


def test_vectors_find_wrong_and_missing_values() -> None:
    wrong = json.dumps({"name": "matrix_1x1", "matrix": "AAAA"})
    client = Client([sys.executable, "-c", f"print({wrong!r})"])
    outcomes = {one.name: one for one in asyncio.run(vectors.check(client))}
    assert all(one.word == "failed" for one in outcomes.values())
    assert "AAAA" in outcomes["matrix_1x1"].failure
    assert "printed nothing" in outcomes["matrix_2x3"].failure
