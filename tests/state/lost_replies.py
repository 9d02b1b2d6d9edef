"""Cases of calls that may lose their reply: for each script its calls, with their preparation."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
from tests.state.scene import Scene, ScriptedWorker, lease_request

from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import backup, dead_letters, inspection, keys, layout, retention
from svddtune.state.calls import Scripts
from svddtune.state.dead_letters import DeadLetter
from svddtune.state.models import id_of_model
from svddtune.state.queue import Claim, let_go
from svddtune.state.restore import Restore
from svddtune.state.session import DatasetId, InitialLabel, SessionId, SkipMode, Verdict
from svddtune.v1 import dataset_pb2

# Yields twice: None after the preparation, then the reply to the call.
Case = Callable[[Scene], AsyncIterator[Any]]
# By name: the script's, followed by the case's if a script has several.
CASES: dict[str, Case] = {}

DATASET = DatasetId("d" * 32)


def case(act: Case) -> Case:
    CASES[act.__name__.replace("__", ": ")] = act
    return act


def script_of(name: str) -> str:
    """Return the name of the script that a case calls."""
    return name.partition(":")[0]


async def new(scene: Scene, **config: Any) -> SessionId:
    """Create a session, and leave its jobs in the queue."""
    await scene.upload()
    settings: dict[str, Any] = {"budget": 6, "strategy": "lama"} | config
    return await scene.sessions.create(
        scene.dataset_id, SessionConfig(**settings), observation_count=12
    )


async def completed(scene: Scene) -> SessionId:
    """Create a session with a result."""
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    await scene.sessions.finish(session_id)
    scene.worker.work_off()
    return session_id


def claim_of(scene: Scene, kind: str) -> Claim:
    """Do jobs until one of this kind comes; return its claim."""
    while claim := scene.worker.next_claim():
        if claim.kind == kind:
            return claim
        scene.worker.do(claim)
    raise AssertionError(f"no {kind} came")


def silence(scene: Scene, claim: Claim) -> None:
    """Make the claim look as if its worker had not renewed it for a minute."""
    scene.worker.client.xclaim(
        claim.stream, keys.GROUP, claim.consumer, 0, [claim.entry], idle=60_000, justid=True
    )


@case
async def answer(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    (lease,) = await scene.lease(session_id)
    yield None
    yield await scene.answer(session_id, lease, want=1)


@case
async def answer__unasked(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    yield None
    yield await scene.answer(session_id, 3)


@case
async def answer_batch(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session(budget=12)
    await scene.answer(session_id, 3)
    yield None
    yield await scene.answer_batch(session_id, {3: 1, 4: -1, 5: 1})


@case
async def answer_batch__that_ends_the_session(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    yield None
    yield await scene.answer_batch(session_id, dict.fromkeys(range(8), 1))


@case
async def commit_atlas(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    claim = claim_of(scene, "ATLAS")
    yield None
    scene.worker.do(claim)
    yield "done"


@case
async def commit_dataset(scene: Scene) -> AsyncIterator[Any]:
    await scene.datasets.put_rows(DATASET, 0, bytes(8 * 24))
    yield None
    yield await scene.datasets.commit(
        DATASET,
        dataset_pb2.Dataset(observation_count=12, feature_count=2),
        chunks=1,
        has_ids=False,
        has_display=False,
    )


@case
async def commit_dataset__outside(scene: Scene) -> AsyncIterator[Any]:
    yield None
    yield await scene.datasets.commit(
        DATASET,
        dataset_pb2.Dataset(observation_count=12, feature_count=2),
        chunks=0,
        has_ids=False,
        has_display=False,
        stored=jobs_pb2.StoredRows(folder="data/rows", rows_per_object=12, sha256=[bytes(32)]),
    )


@case
async def commit_estimate(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    await scene.sessions.finish(session_id)
    claim = claim_of(scene, "ESTIMATE")
    yield None
    scene.worker.do(claim)
    yield "done"


@case
async def commit_fit(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    await scene.sessions.finish(session_id)
    scene.worker.do(claim_of(scene, "FIT"))
    claim = claim_of(scene, "FIT")
    yield None
    scene.worker.do(claim)
    yield "done"


@case
async def commit_part(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    claim = claim_of(scene, "PREPARE")
    yield None
    scene.worker.workspace.commit_part(claim, {"nn": np.zeros((2, 1))})
    yield "done"


@case
async def commit_plan(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    await scene.sessions.finish(session_id)
    claim = claim_of(scene, "PLAN")
    yield None
    scene.worker.do(claim)
    yield "done"


@case
async def commit_prepare(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    claim = claim_of(scene, "PREPARE")
    yield None
    scene.worker.do(claim)
    yield "done"


@case
async def commit_preview(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.vote(session_id, "ann")
    scene.worker.work_off()
    await scene.sessions.preview_withdrawal(session_id, "ann", "e" * 32)
    claim = claim_of(scene, "PREVIEW")
    yield None
    scene.worker.workspace.commit_preview(claim, jobs_pb2.Preview())
    yield "done"


@case
async def commit_refine(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session(strategy="knowledge_gradient")
    for row in range(5):
        await scene.answer(session_id, row, Verdict.OUTLIER if row < 2 else Verdict.INLIER)
    claim = claim_of(scene, "REFINE")
    yield None
    yield scene.worker.refine(claim)


@case
async def commit_suggest(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    await scene.lease(session_id, waits=True)
    claim = claim_of(scene, "SUGGEST")
    yield None
    yield scene.worker.suggest(claim)


@case
async def commit_suggest__while_urgent_jobs_wait(scene: Scene) -> AsyncIterator[Any]:
    # One more is offered, and a second effect would offer another one.
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    for preview in "def":
        await scene.sessions.preview_withdrawal(session_id, "ann", 32 * preview)
    claim = claim_of(scene, "SUGGEST")
    yield None
    yield scene.worker.suggest(claim)


@case
async def create_session(scene: Scene) -> AsyncIterator[Any]:
    await scene.upload()
    yield None
    yield await scene.sessions.create(
        scene.dataset_id,
        SessionConfig(budget=6),
        observation_count=12,
        initial=[InitialLabel(1, Verdict.INLIER), InitialLabel(2, Verdict.OUTLIER)],
    )


@case
async def create_session__with_request_id(scene: Scene) -> AsyncIterator[Any]:
    await scene.upload()
    yield None
    yield await scene.sessions.create(
        scene.dataset_id,
        SessionConfig(budget=6),
        observation_count=12,
        initial=[InitialLabel(1, Verdict.INLIER)],
        request_id="once",
    )


@case
async def create_session__from_another(scene: Scene) -> AsyncIterator[Any]:
    first = await scene.session()
    await scene.answer(first, 3, Verdict.OUTLIER, confidence=0.8)
    await scene.answer(first, 4, labeler="ben")
    taken = await scene.labels_of(first)
    # (The content of one session is compared.)
    await scene.sessions.delete(first)
    yield None
    yield await scene.created_from(taken, request_id="once")


@case
async def delete_dataset(scene: Scene) -> AsyncIterator[Any]:
    dataset_id = await scene.upload(ids=[f"row-{i}" for i in range(12)])
    yield None
    await scene.datasets.delete(dataset_id)
    yield "done"


@case
async def delete_session(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    yield None
    await scene.sessions.delete(session_id)
    yield "done"


@case
async def put_model(scene: Scene) -> AsyncIterator[Any]:
    yield None
    yield await scene.models.put(id_of_model(b"model"), b"model", 60.0)


@case
async def delete_model(scene: Scene) -> AsyncIterator[Any]:
    model_id = id_of_model(b"model")
    await scene.models.put(model_id, b"model", 60.0)
    yield None
    await scene.models.delete(model_id)
    yield "done"


@case
async def drop_job(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    claim = claim_of(scene, "SUGGEST")
    yield None
    scene.worker.workspace.commit_nothing(claim)
    yield "done"


@case
async def drop_job__of_a_preparation(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    claim = claim_of(scene, "PREPARE")
    yield None
    scene.worker.workspace.commit_nothing(claim)
    yield "done"


@case
async def expire(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.lease(session_id)
    await scene.run_out(session_id)
    yield None
    yield await scene.sessions.expire(session_id)


@case
async def extend(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.lease(session_id)
    yield None
    yield await scene.sessions.extend(session_id, holder="ann/", labeler="ann")


@case
async def fail_job(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    claim = claim_of(scene, "SUGGEST")
    yield None
    yield scene.worker.queue.fail(claim, "JOB_FAILED", "It broke.", final=True)


@case
async def fail_job__to_try_again(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    claim = claim_of(scene, "SUGGEST")
    yield None
    yield scene.worker.queue.fail(claim, "JOB_FAILED", "It broke.")


@case
async def lease(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    yield None
    yield [one.query for one in await scene.lease(session_id, most=2)]


@case
async def lease__of_a_repeat(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session(repeat_every=1)
    await scene.vote(session_id, "ann")
    scene.worker.work_off()
    yield None
    yield [one.query for one in await scene.lease(session_id, most=2, waits=True)]


@case
async def lease__of_a_control_item(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session(controls={11: Verdict.INLIER}, control_share=0.5)
    yield None
    yield [one.query for one in await scene.lease(session_id, most=3, waits=True)]


@case
async def move__pause(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    yield None
    await scene.sessions.pause(session_id)
    yield "done"


@case
async def move__resume(scene: Scene) -> AsyncIterator[Any]:
    # It needs its atlas again, so it is PREPARING after the first call.
    session_id = await new(scene, strategy="knowledge_gradient")
    scene.worker.queue.fail(claim_of(scene, "PREPARE"), "JOB_FAILED", "It broke.", final=True)
    yield None
    await scene.sessions.resume(session_id)
    yield "done"


@case
async def move__finish(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    yield None
    await scene.sessions.finish(session_id)
    yield "done"


@case
async def move__cancel(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    yield None
    await scene.sessions.cancel(session_id)
    yield "done"


@case
async def update_session__with_a_budget_that_is_spent(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    yield None
    await scene.sessions.update(session_id, budget=1)
    yield "done"


@case
async def update_session__priority(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    yield None
    await scene.sessions.update(session_id, priority=5)
    yield "done"


@case
async def update_session__trusts(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.answer(session_id, 3)
    yield None
    await scene.sessions.update(session_id, trusts={"ann": 0.75})
    yield "done"


@case
async def update_session__retention(scene: Scene) -> AsyncIterator[Any]:
    session_id = await completed(scene)
    yield None
    await scene.sessions.update(session_id, retention_ms=60_000)
    yield "done"


@case
async def update_session__retention_as_the_service_is_set(scene: Scene) -> AsyncIterator[Any]:
    session_id = await completed(scene)
    await scene.sessions.update(session_id, retention_ms=60_000)
    yield None
    await scene.sessions.update(session_id, retention_ms=retention.AS_SERVICE_IS_SET)
    yield "done"


@case
async def park(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.lease(session_id, most=100, waits=True)
    yield None
    await scene.sessions.park(session_id, "ann/")
    yield "done"


@case
async def probe(scene: Scene) -> AsyncIterator[Any]:
    yield None
    yield await scene.sessions._call(
        "probe", keys.prefix(0), layout=keys.OLDEST_LAYOUT, name="f" * 32
    )


@case
async def sign_service(scene: Scene) -> AsyncIterator[Any]:
    yield None
    yield await scene.sessions._call(
        "sign_service", keys.prefix(0), name="f" * 16, sign='{"layout": 4}', ttl_s=15
    )


def in_earlier_layout(scene: Scene) -> None:
    scene.worker.client.set(keys.prefix(0) + "layout", keys.OLDEST_LAYOUT)


@case
async def raise_layout(scene: Scene) -> AsyncIterator[Any]:
    in_earlier_layout(scene)
    yield None
    # (A repeated call finds it raised: what was before is told once.)
    yield layout.raise_layout(scene.worker.client).in_force


@case
async def follow_layout(scene: Scene) -> AsyncIterator[Any]:
    in_earlier_layout(scene)
    yield None
    yield await scene.sessions._call(
        "follow_layout", keys.prefix(0), layout=keys.LAYOUT_VERSION, migrated=True
    )


@case
async def figures(scene: Scene) -> AsyncIterator[Any]:
    await scene.session()
    yield None
    # (Times differ from run to run.)
    reply = await scene.sessions._call("figures", keys.prefix(0))
    yield sorted(reply), reply["workers"], reply["asking"]


UPLOAD = "12345678-1234-1234-1234-123456789abc"


@case
async def open_upload(scene: Scene) -> AsyncIterator[Any]:
    older = await scene.uploads.open(UPLOAD, "header", outside=False)
    await scene.uploads.append(older, b"rows", 3)
    yield None
    yield (await scene.uploads.open(UPLOAD, "header", outside=True)).rows


@case
async def append_upload(scene: Scene) -> AsyncIterator[Any]:
    writer = await scene.uploads.open(UPLOAD, "header", outside=False)
    yield None
    await scene.uploads.append(writer, b"rows", 3)
    yield "done"


@case
async def close_upload(scene: Scene) -> AsyncIterator[Any]:
    writer = await scene.uploads.open(UPLOAD, "header", outside=False)
    await scene.uploads.append(writer, b"rows", 3)
    yield None
    await scene.uploads.close(writer)
    yield "done"


@case
async def close_upload__complete(scene: Scene) -> AsyncIterator[Any]:
    writer = await scene.uploads.open(UPLOAD, "header", outside=False)
    await scene.uploads.append(writer, b"rows", 3)
    yield None
    await scene.uploads.close(writer, DATASET)
    yield "done"


@case
async def put_part(scene: Scene) -> AsyncIterator[Any]:
    yield None
    await scene.datasets.put_rows(DATASET, 0, bytes(8 * 24))
    yield "done"


@case
async def put_part__display(scene: Scene) -> AsyncIterator[Any]:
    yield None
    await scene.datasets.put_displays(DATASET, 0, [b"one", b"two"])
    yield "done"


@case
async def take_bulk(scene: Scene) -> AsyncIterator[Any]:
    # Several jobs wait, so a second effect would take another one.
    await new(scene)
    yield None
    taken = scene.worker.queue._take_bulk()
    assert taken is not None
    yield taken.kind


@case
async def let_go__of_a_killed_worker(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    fallen = ScriptedWorker(scene.url)
    assert fallen.next_claim()
    assert fallen.next_claim()
    fallen.close()
    yield None
    yield let_go(scene.worker.client, keys.prefix(0), fallen.queue.consumer, "killed")


@case
async def recover(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    fallen = ScriptedWorker(scene.url)
    for _ in range(2):
        claim = fallen.next_claim()
        assert claim is not None
        silence(scene, claim)
    fallen.close()
    yield None
    yield scene.worker.queue.recover()


@case
async def recover__where_all_is_well(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    assert scene.worker.next_claim()
    yield None
    yield scene.worker.queue.recover()


@case
async def forget_workers(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    fallen = ScriptedWorker(scene.url)
    assert fallen.queue.take_urgent() is None
    fallen.close()
    scene.worker.queue.take_urgent()
    scene.worker.queue.sign_in({})
    yield None
    yield scene.worker.queue.forget_workers(silence_s=0)


@case
async def release(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    (held,) = await scene.lease(session_id)
    yield None
    yield await scene.sessions.release(session_id, holder="ann/", lease_ids=[held.lease_id])


@case
async def renew(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    claim = claim_of(scene, "PREPARE")
    silence(scene, claim)
    yield None
    scene.worker.queue.renew(claim)
    yield "done"


@case
async def retract(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    held = await scene.vote(session_id, "ann")
    yield None
    yield await scene.sessions.retract(session_id, answer_id="r", labeler="ann", row=held.row)


@case
async def requeue_session(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.answered_session()
    scene.worker.client.delete(*scene.worker.client.keys("*:q:*"))
    yield None
    yield dead_letters.requeue(scene.worker.client, session_id)


@case
async def retry_job(scene: Scene) -> AsyncIterator[Any]:
    await new(scene)
    claim = claim_of(scene, "PREPARE")
    scene.worker.queue.fail(claim, "JOB_FAILED", "It cannot be done.", final=True)
    dead = next(one for one in inspection.jobs(scene.worker.client, 1) if one.reason)
    yield None
    yield dead_letters.retry(scene.worker.client, DeadLetter.of(dead.id))


@case
async def skip(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    (held,) = await scene.lease(session_id)
    yield None
    yield await scene.skip(session_id, held, SkipMode.OTHERS, want=1)


@case
async def skip__drop(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    (held,) = await scene.lease(session_id)
    yield None
    yield await scene.skip(session_id, held, SkipMode.DROP)


@case
async def reopen(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.vote(session_id, "ann")
    await scene.answer(session_id, 7)
    yield None
    yield await scene.sessions.reopen(session_id, 7, by="owner")


@case
async def withdraw(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.vote(session_id, "ann")
    await scene.sessions.lease(session_id, lease_request("ann"), waits=True)
    yield None
    yield await scene.sessions.withdraw(session_id, "ann", by="owner")


@case
async def withdraw__reinstate(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.vote(session_id, "ann")
    await scene.sessions.withdraw(session_id, "ann", by="owner")
    yield None
    yield await scene.sessions.reinstate(session_id, "ann", by="owner")


@case
async def withdraw__preview(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    await scene.vote(session_id, "ann")
    yield None
    yield await scene.sessions.preview_withdrawal(session_id, "ann", "e" * 32)


def of_before_retention(scene: Scene, session_id: SessionId) -> None:
    """Make a session that has ended, and its dataset, look as an earlier version left them."""
    client, key = scene.worker.client, keys.session(session_id)
    client.hdel(key, "ended_ms")
    client.hset(f"{key}:explanations", "1", b"")
    client.hdel(keys.dataset(0, scene.dataset_id), "unused_ms")
    client.delete(*(f"{keys.prefix(0)}{index}" for index in ("ended", "unused")))


@case
async def remove_expired(scene: Scene) -> AsyncIterator[Any]:
    unused = await scene.upload(n=13)
    await scene.upload()
    await completed(scene)
    await scene.sessions.update(await completed(scene), retention_ms=1000)
    client, prefix = scene.worker.client, keys.prefix(0)
    for index in ("ended", "ending", "unused"):
        for member in client.zrange(prefix + index, 0, -1):
            client.zadd(prefix + index, {member: 1})
    yield None
    removed = await retention.remove_expired(
        scene.client, 0, retention.Retention(session_ms=1000, dataset_ms=1000)
    )
    assert [one.dataset_id for one in removed.datasets] == [unused]
    yield removed


@case
async def compact_session(scene: Scene) -> AsyncIterator[Any]:
    session_id = await completed(scene)
    of_before_retention(scene, session_id)
    yield None
    Scripts(scene.worker.client)("compact_session", keys.prefix(0), session=session_id)
    yield "done"


@case
async def index_dataset(scene: Scene) -> AsyncIterator[Any]:
    session_id = await completed(scene)
    await scene.sessions.delete(session_id)
    of_before_retention(scene, session_id)
    yield None
    Scripts(scene.worker.client)("index_dataset", keys.prefix(0), dataset=scene.dataset_id)
    yield "done"


@case
async def upgrade_dataset(scene: Scene) -> AsyncIterator[Any]:
    await scene.upload()
    client, key = scene.worker.client, keys.dataset(0, scene.dataset_id)
    client.hset(key, mapping={"prep:8": "ready", "prepchunks:8": 1, "atlasparts": 21})
    client.set(f"{key}:prep:8:0", b"")
    yield None
    yield Scripts(client)("upgrade_dataset", keys.prefix(0), dataset=scene.dataset_id)


@case
async def restore_dataset(scene: Scene) -> AsyncIterator[Any]:
    await scene.upload()
    client = scene.worker.client
    stored = backup.dataset(client, 0, scene.dataset_id)
    assert stored
    parts = list(backup.dataset_parts(client, 0, stored))
    await scene.datasets.delete(scene.dataset_id)
    staged = Restore(client).stage(keys.prefix(0), parts)
    yield None
    yield Scripts(client)(
        "restore_dataset",
        keys.prefix(0),
        dataset=scene.dataset_id,
        fields=dict(stored.fields),
        parts=staged,
    )


@case
async def restore_session(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.answered_session()
    client = scene.worker.client
    stored = backup.session(client, session_id)
    assert stored
    parts = ((part, kind, value) for part, (kind, value) in stored.parts.items())
    staged = Restore(client).stage(keys.prefix(0), parts)
    yield None
    yield Scripts(client)(
        "restore_session",
        keys.prefix(0),
        session=session_id,
        dataset=scene.dataset_id,
        fields=dict(stored.fields),
        parts=staged,
        secret="e" * 32,
        jobs={"suggest": b"suggest"},
        range="default",
        atlas_jobs=[b"atlas"],
        replace=True,
    )


@case
async def recount(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    scene.worker.client.hdel(keys.session(session_id), "counted")
    scene.worker.client.hset(keys.usage(0, "gone"), "sessions", 7)
    yield None
    yield Scripts(scene.worker.client)(
        "recount", keys.prefix(0), projects=["default", "gone"], sizes={}
    )


@case
async def compare_usage(scene: Scene) -> AsyncIterator[Any]:
    await scene.session()
    scene.worker.client.hset(keys.usage(0, "gone"), "sessions", 7)
    yield None
    yield Scripts(scene.worker.client)(
        "compare_usage", keys.prefix(0), projects=["default", "gone"], sizes={}
    )


@case
async def upgrade_session(scene: Scene) -> AsyncIterator[Any]:
    session_id = await scene.session()
    client, key = scene.worker.client, keys.session(session_id)
    client.hset(key, "k", 8)
    client.hdel(key, "prep", "range")
    yield None
    yield Scripts(client)(
        "upgrade_session",
        keys.prefix(0),
        session=session_id,
        preparation="8:default",
        range="default",
        job_prepare=b"prepare",
        job_refine=b"refine",
        scaling=2,
        atlas_jobs=[b"atlas"],
    )
