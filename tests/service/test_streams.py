"""Streams only: credit, heartbeat, revocation, drain, and the cost of an idle stream."""

import asyncio
import uuid

import grpc
import pytest
from tests.e2e.processes import service
from tests.service.harness import CALL_S, INLIER, OUTLIER, Harness, chunk, grid, harness_at, header
from tests.service.support import error_info
from tests.waiting import wait_until

from svddtune.process.settings import read_settings
from svddtune.service.server import Server
from svddtune.service.settings import Settings
from svddtune.state import keys
from svddtune.state.connect import connect
from svddtune.v1 import config_pb2, oracle_pb2, oracle_pb2_grpc, tuning_pb2

pytestmark = pytest.mark.integration

Config = config_pb2.SessionConfig
NOTICES = keys.prefix(0) + "notices"
LAMA = config_pb2.QUERY_STRATEGY_LAMA


def withdraw(harness: Harness, name: str, labeler: str) -> None:
    harness.tuning.WithdrawLabeler(tuning_pb2.WithdrawLabelerRequest(name=name, labeler=labeler))


def reinstate(harness: Harness, name: str, labeler: str) -> None:
    harness.tuning.ReinstateLabeler(tuning_pb2.ReinstateLabelerRequest(name=name, labeler=labeler))


def test_lower_credit_keeps_leases_and_brings_no_new_ones(harness: Harness) -> None:
    name = harness.session().name
    labeler = harness.labeler(name, credit=2)
    held = [labeler.expect("assign"), labeler.expect("assign")]
    labeler.send(credit=oracle_pb2.Credit(queries=1))
    labeler.answer(held[0])
    labeler.expect("ack")
    harness.worker.work_off()
    assert harness.get(name).leased_count == 1
    labeler.send(credit=oracle_pb2.Credit(queries=0))
    labeler.send(release=oracle_pb2.Release())
    labeler.expect("ack")
    assert harness.get(name).leased_count == 0
    labeler.send(credit=oracle_pb2.Credit(queries=2))
    assert labeler.expect("assign").query == held[1].query


def test_heartbeat_is_a_third_of_the_shortest_lease(harness: Harness) -> None:
    short = harness.session(config=Config(budget=3, lease_seconds=6)).name
    long = harness.session(config=Config(budget=3, lease_seconds=60)).name
    welcome = harness.labeler(short).expect("welcome")
    assert (welcome.lease_seconds, welcome.heartbeat_seconds) == (6.0, 1.0)
    welcome = harness.labeler([long, short]).expect("welcome")
    # By the session with the shortest ones.
    assert (welcome.lease_seconds, welcome.heartbeat_seconds) == (6.0, 1.0)
    assert welcome.stream_seconds == 3600.0


def test_heartbeat_keeps_a_lease_that_silence_loses(harness: Harness) -> None:
    name = harness.session(config=Config(budget=2, lease_seconds=1)).name
    thinking, silent = harness.labeler(name, "thinking"), harness.labeler(name, "silent")
    held = thinking.expect("assign")
    silent.expect("assign")
    until = held.lease_expire_time.ToMilliseconds() + 1000
    while True:
        thinking.send(extend=oracle_pb2.Extend())
        (extended,) = thinking.expect("ack").extended
        assert extended.lease_id == held.lease_id
        if extended.expire_time.ToMilliseconds() > until:
            break
    assert silent.expect("revoke").reason == oracle_pb2.REVOKE_REASON_EXPIRED
    assert not any(one.HasField("revoke") for one in thinking.seen)
    thinking.answer(held)
    assert thinking.expect("ack").disposition == oracle_pb2.Ack.DISPOSITION_APPLIED


def test_lease_is_revoked_when_another_labeler_answers_the_query(harness: Harness) -> None:
    name = harness.session().name
    labeler = harness.labeler(name)
    assign = labeler.expect("assign")
    harness.label(name, assign.observation_id)
    revoke = labeler.expect("revoke")
    assert (revoke.session, revoke.query) == (name, assign.query)
    assert revoke.lease_id == assign.lease_id
    assert revoke.reason == oracle_pb2.REVOKE_REASON_ANSWERED_BY_OTHER


def test_withdrawn_labeler_is_asked_nothing_until_it_is_reinstated(harness: Harness) -> None:
    name = harness.session().name
    labeler = harness.labeler(name, "bob")
    labeler.answer(labeler.expect("assign"))
    labeler.expect("ack")
    harness.worker.work_off()
    held = labeler.expect("assign")
    withdraw(harness, name, "bob")
    revoke = labeler.expect("revoke")
    assert revoke.lease_id == held.lease_id
    assert revoke.reason == oracle_pb2.REVOKE_REASON_LABELER_WITHDRAWN
    assert labeler.expect("finished").reason == oracle_pb2.FINISH_REASON_LABELER_WITHDRAWN
    labeler.answer(held, answer_id="late")
    reject = labeler.expect("reject")
    assert (reject.answer_id, reject.query, reject.session) == ("late", held.query, name)
    info = error_info(reject.status)
    assert (info.reason, info.metadata["labeler"]) == ("LABELER_WITHDRAWN", "bob")
    lease = oracle_pb2.LeaseRequest(session=name, labeler="bob")
    assert harness.oracle.Lease(lease).finish_reason == (oracle_pb2.FINISH_REASON_LABELER_WITHDRAWN)

    reinstate(harness, name, "bob")
    harness.worker.work_off()
    labeler.send(credit=oracle_pb2.Credit(queries=1))
    assert labeler.expect("assign").session == name


def test_reject_names_item_reason_and_values(harness: Harness) -> None:
    name = harness.session().name
    labeler = harness.labeler(name, credit=0)
    labeler.send(
        answer=oracle_pb2.Answer(answer_id="x", observation_id="none", verdict=INLIER, session=name)
    )
    reject = labeler.expect("reject")
    info = error_info(reject.status)
    assert (reject.answer_id, reject.session) == ("x", name)
    assert (info.reason, info.domain) == ("UNKNOWN_OBSERVATION", "svddtune.github.io")
    assert info.metadata["observation"] == "none"
    # The stream lives on.
    labeler.send(answer=oracle_pb2.Answer(answer_id="x", observation_id="3", verdict=OUTLIER))
    assert labeler.expect("ack").answer_id == "x"


def test_stream_at_its_maximum_age_is_drained_and_its_leases_stay_for_the_next(
    redis_url: str,
) -> None:
    with (
        service(redis_url, "127.0.0.1:0", "--stream-s", "1") as process,
        harness_at(process.ready["address"], redis_url) as harness,
    ):
        name = harness.session(config=Config(budget=6)).name
        labeler = harness.labeler(name, credit=2)
        welcome = labeler.expect("welcome")
        assert welcome.stream_seconds == 1.0
        held = {labeler.expect("assign").lease_id for _ in range(2)}
        assert labeler.expect("drain").reason == oracle_pb2.DRAIN_REASON_STREAM_AGE
        assert labeler.end() is None
        assert harness.get(name).leased_count == 2
        again = harness.labeler(name, credit=2, resume_token=welcome.resume_token)
        assert {again.expect("assign").lease_id for _ in range(2)} == held


def test_labeler_without_a_stream_gets_no_new_query(harness: Harness) -> None:
    name = harness.create(config=Config(budget=3)).name
    gone = harness.labeler(name, "gone")
    gone.expect("welcome")
    gone.vanish()
    harness.worker.work_off()
    assert harness.labeler(name, "there", credit=3).expect("assign").query == 1
    wait_until(lambda: harness.get(name).leased_count == 3)


def test_labeler_that_repeats_an_answer_after_an_expiry_is_served_again(harness: Harness) -> None:
    name = harness.session(config=Config(budget=6, lease_seconds=1)).name
    labeler = harness.labeler(name)
    first = labeler.answer(labeler.expect("assign"))
    labeler.expect("ack")
    harness.worker.work_off()
    held = labeler.expect("assign")
    assert labeler.expect("revoke").reason == oracle_pb2.REVOKE_REASON_EXPIRED
    labeler.send(answer=first)
    assert labeler.expect("ack").answer_id == first.answer_id
    assert labeler.expect("assign").query == held.query


def test_stream_resumed_before_the_old_one_ends_is_not_parked_with_it(harness: Harness) -> None:
    name = harness.session(config=Config(budget=6)).name
    old = harness.labeler(name)
    token = old.expect("welcome").resume_token
    old.answer(old.expect("assign"))
    old.expect("ack")
    new = harness.labeler(name, resume_token=token)
    new.expect("welcome")
    # Behind this reply the new stream waits for queries.
    new.send(extend=oracle_pb2.Extend())
    new.expect("ack")
    with connect(harness.redis_url) as client:
        before = client.xlen(NOTICES)
        old.vanish()
        wait_until(lambda: client.xlen(NOTICES) > before)
    harness.worker.work_off()
    assert new.expect("assign").query == 2


def test_broken_streams_keep_their_leases(harness: Harness) -> None:
    rows = 60
    dataset = harness.upload(header(observation_count=rows), chunk(grid(rows))).name
    name = harness.session(dataset=dataset, config=Config(budget=rows, strategy=LAMA)).name
    streams = [harness.labeler(name, f"l{i}") for i in range(40)]
    tokens = [one.expect("welcome").resume_token for one in streams]
    held = [one.expect("assign").lease_id for one in streams]
    for one in streams:
        one.vanish()
    again = [harness.labeler(name, f"l{i}", resume_token=token) for i, token in enumerate(tokens)]
    assert [one.expect("assign").lease_id for one in again] == held


def commands_in_two_rounds(redis_url: str) -> int:
    """Commands that Redis runs while the service's reader of notices reads twice.

    The reader is what tells the time here: however slow the machine is, it reads as often.
    """
    with connect(redis_url) as client:

        def calls() -> dict[str, int]:
            stats = client.info("commandstats")
            return {name: one["calls"] for name, one in stats.items() if name != "cmdstat_info"}

        def after_round(number: int) -> dict[str, int]:
            wait_until(lambda: calls()["cmdstat_xread"] >= number)
            return calls()

        start = after_round(calls()["cmdstat_xread"] + 1)
        end = after_round(start["cmdstat_xread"] + 2)
        return sum(end.values()) - sum(start.values())


def test_idle_streams_cost_redis_nothing(harness: Harness) -> None:
    name = harness.session(config=Config(budget=6)).name
    stream = [harness.labeler(name, "first", credit=6)]
    for _ in range(6):
        stream[0].expect("assign")

    # The one reader of notices, and whatever else the process does by itself.
    alone = commands_in_two_rounds(harness.redis_url)
    others = [harness.labeler(() if i % 2 else name, f"l{i}", credit=3) for i in range(50)]
    for one in others:
        one.expect("welcome")
        # Behind this answer nothing that a stream begins with is left to do.
        one.send(extend=oracle_pb2.Extend(session=name))
        one.expect("ack")
    # Other work of the service, such as its probe of Redis, falls into either window; some, such as
    # bringing data to a new layout, comes once. Fifty streams that each asked once would be fifty
    # commands more in every window.
    assert any(commands_in_two_rounds(harness.redis_url) < alone + len(others) for _ in range(3))


def test_ended_streams_leave_nothing_behind(harness: Harness) -> None:
    name = harness.session(config=Config(budget=6)).name

    async def churn() -> None:
        options = ["--redis", harness.redis_url, "--listen", "127.0.0.1:0"]
        server = Server(read_settings(Settings, options, program="test"))
        address = (await server.start())["address"]
        await server.wait_until_serving()

        async with grpc.aio.insecure_channel(address) as channel:
            stub = oracle_pb2_grpc.OracleServiceStub(channel)

            async def visit(number: int) -> None:
                call = stub.Converse()  # type: ignore[call-arg]
                sessions = [name] if number % 2 else []
                hello = oracle_pb2.Hello(
                    min_protocol_version=1, labeler="ann", sessions=sessions, credit=number % 3
                )
                await call.write(oracle_pb2.ConverseRequest(hello=hello))
                if number % 5:
                    await call.read()
                call.cancel()

            async def visits(numbers: range) -> None:
                for start in numbers[::25]:
                    await asyncio.gather(*(visit(start + i) for i in range(25)))

            tasks = len(asyncio.all_tasks())
            await visits(range(500))
            # What a cancelled call leaves to do is done a few turns later.
            async with asyncio.timeout(CALL_S):
                while server._draining._wakers or len(asyncio.all_tasks()) > tasks:
                    await asyncio.sleep(0.01)
        notices = server._notices
        # Those of the health service and the reaper.
        assert {key: len(one) for key, one in notices._listeners.items()} == {"": 1}
        assert len(notices._to_all) == 1
        await server.stop()

    asyncio.run(churn())
    with connect(harness.redis_url) as client:
        found = [key.decode() for key in client.scan_iter(count=1000)]
        assert not [key for key in found if key.endswith((":waiting", ":waiters"))]
    # Whoever comes next is served.
    ack = harness.label(name, "11")
    assert ack.counts.total == 1


def test_messages_wait_in_the_client_while_the_service_is_slower(harness: Harness) -> None:
    name = harness.session(config=Config(budget=12)).name
    labeler = harness.labeler(name, credit=0)
    sent = [uuid.uuid4().hex for _ in range(300)]
    for turn, answer_id in enumerate(sent):
        labeler.send(
            answer=oracle_pb2.Answer(
                answer_id=answer_id, observation_id=str(turn % 10), verdict=INLIER, replace=True
            )
        )
    assert [labeler.expect("ack").answer_id for _ in sent] == sent
