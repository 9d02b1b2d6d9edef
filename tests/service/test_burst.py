"""A burst of answers on one service process: none is lost, and every session gets its share."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from tests.service.harness import CALL_S, INLIER, OUTLIER, Harness, chunk, grid, header

from svddtune.v1 import config_pb2, oracle_pb2, oracle_pb2_grpc, tuning_pb2

SESSIONS, STREAMS, ANSWERS = 5, 20, 200
PER_SECOND = 1000
ROWS = STREAMS // SESSIONS * ANSWERS

pytestmark = pytest.mark.integration


@dataclass
class Burst:
    """What the streams saw."""

    # Answer ids with an Ack, in the order of the Acks, and the session and stream of each answer.
    acknowledged: list[str] = field(default_factory=list)
    sent: dict[str, tuple[str, int]] = field(default_factory=dict)
    rejects: list[oracle_pb2.Reject] = field(default_factory=list)


async def offer(address: str, sessions: list[str]) -> Burst:
    """Offer ``PER_SECOND`` unasked answers, whether earlier ones are acknowledged or not."""
    burst = Burst()

    async def label(number: int) -> None:
        session = sessions[number % SESSIONS]
        first = number // SESSIONS * ANSWERS
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            stub: Any = oracle_pb2_grpc.OracleServiceStub(channel)
            call = stub.Converse()
            hello = oracle_pb2.Hello(
                min_protocol_version=1, labeler=f"labeler-{number}", sessions=[session]
            )
            await call.write(oracle_pb2.ConverseRequest(hello=hello))
            assert (await call.read()).HasField("welcome")

            async def send() -> None:
                begin = asyncio.get_running_loop().time()
                for place in range(ANSWERS):
                    due = begin + (place + number / STREAMS) * STREAMS / PER_SECOND
                    await asyncio.sleep(due - asyncio.get_running_loop().time())
                    answer = oracle_pb2.Answer(
                        answer_id=f"{number}-{place}",
                        session=session,
                        observation_id=str(first + place),
                        verdict=OUTLIER if place % 10 == 0 else INLIER,
                    )
                    burst.sent[answer.answer_id] = session, number
                    await call.write(oracle_pb2.ConverseRequest(answer=answer))

            sending = asyncio.create_task(send())
            pending = ANSWERS
            while pending:
                response = await asyncio.wait_for(call.read(), CALL_S)
                assert isinstance(response, oracle_pb2.ConverseResponse), "the stream ended"
                match response.WhichOneof("message"):
                    case "ack":
                        burst.acknowledged.append(response.ack.answer_id)
                        pending -= 1
                    case "reject":
                        burst.rejects.append(response.reject)
                        pending -= 1
            await sending
            await call.write(oracle_pb2.ConverseRequest(bye=oracle_pb2.Bye()))

    async with asyncio.TaskGroup() as group:
        for number in range(STREAMS):
            group.create_task(label(number))
    return burst


def logged(harness: Harness, session: str) -> list[str]:
    """Answer ids of the votes in a session's log."""
    found: list[str] = []
    token = ""
    while True:
        page = harness.tuning.ListLabels(
            tuning_pb2.ListLabelsRequest(name=session, page_size=1000, page_token=token),
            timeout=CALL_S,
        )
        found += [event.answer_id for event in page.events if event.answer_id]
        token = page.next_page_token
        if not token:
            return found


@pytest.mark.slow
def test_burst_of_answers_on_one_service_is_stored_once_and_serves_all_sessions_alike(
    harness: Harness, service_process: Any
) -> None:
    dataset = harness.upload(header(observation_count=ROWS + 20), chunk(grid(ROWS + 20))).name
    config = config_pb2.SessionConfig(budget=ROWS + 10)
    sessions = [harness.session(dataset=dataset, config=config).name for _ in range(SESSIONS)]

    burst = asyncio.run(offer(service_process.ready["address"], sessions))

    assert not burst.rejects
    assert sorted(burst.acknowledged) == sorted(burst.sent)
    assert len(burst.sent) == STREAMS * ANSWERS
    for session in sessions:
        expected = sorted(one for one, (of, _) in burst.sent.items() if of == session)
        assert sorted(logged(harness, session)) == expected
        counts = harness.get(session).counts
        assert (counts.inlier + counts.outlier, counts.unsure) == (len(expected), 0)
    # Nobody is left behind: halfway, all have had a comparable share of the Acks.
    half = burst.acknowledged[: len(burst.acknowledged) // 2]
    by_session = Counter(burst.sent[one][0] for one in half)
    by_stream = Counter(burst.sent[one][1] for one in half)
    assert len(by_session) == SESSIONS
    assert len(by_stream) == STREAMS
    assert max(by_session.values()) <= 2 * min(by_session.values())
    assert max(by_stream.values()) <= 3 * min(by_stream.values())
    # The service goes on.
    harness.label(sessions[0], str(ROWS))
    assert harness.get(sessions[0]).counts.total == STREAMS // SESSIONS * ANSWERS + 1
