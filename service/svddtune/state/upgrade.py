"""Data of an earlier version become this version's, once, when a process of this version starts.

Every step has one effect however often it runs, so several processes may start at once and one that
was killed is taken up by the next. Processes of the earlier version must have ended before.
"""

import logging

from svddtune.state import codec, keys
from svddtune.state.calls import Scripts
from svddtune.state.connect import Redis
from svddtune.state.errors import StoreUnavailable
from svddtune.state.jobs import session_jobs
from svddtune.state.recount import recount_partition
from svddtune.state.session import SessionId, atlas_parts
from svddtune.v1 import dataset_pb2

log = logging.getLogger(__name__)

# The layout that can be upgraded: that of 0.1.0.
EARLIER_LAYOUT = 2


def upgrade(client: Redis) -> None:
    """Upgrade all partitions of a server whose data have ``EARLIER_LAYOUT``.

    Raises RedisError; StoreUnavailable, ``REDIS_UNSAFE`` where workers of that version are there.
    """
    _refuse_living(client)
    call = Scripts(client)
    for prefix in sorted(_prefixes(client)):
        _drop_jobs(client, prefix)
        for dataset_id in client.zrange(f"{prefix}datasets", 0, -1):
            call("upgrade_dataset", prefix, dataset=dataset_id.decode())
        for session_id in client.zrange(f"{prefix}sessions", 0, -1):
            _upgrade_session(client, call, prefix, SessionId(session_id.decode()))
        recount_partition(client, prefix)
    client.set(keys.prefix(0) + "layout", keys.LAYOUT_VERSION)
    log.warning(
        "upgraded the data from layout %s to layout %s", EARLIER_LAYOUT, keys.LAYOUT_VERSION
    )


def _refuse_living(client: Redis) -> None:
    """Processes of the earlier version would go on writing what this version cannot read."""
    found = client.scan_iter(match="svddtune:{p*}:worker:*", count=1000)
    if living := sorted({key.decode().rpartition(":")[2] for key in found}):
        raise StoreUnavailable(
            "REDIS_UNSAFE",
            f"The data in this Redis have layout {EARLIER_LAYOUT}, and workers of 0.1.0 are there: "
            f"{', '.join(living)}. Stop all services and workers of 0.1.0, wait 15 s, and start "
            f"again.",
            layout=EARLIER_LAYOUT,
        )


def _prefixes(client: Redis) -> set[str]:
    found = client.scan_iter(match="svddtune:{p*}:sessions", count=1000)
    return {key.decode().removesuffix("sessions") for key in found}


def _drop_jobs(client: Redis, prefix: str) -> None:
    """Drop the jobs of the earlier version: their sessions add their own anew."""
    for lane in ("hi", "bulk"):
        stream = f"{prefix}q:{lane}"
        old = [entry for entry, fields in client.xrange(stream) if b"about" not in fields]
        if old:
            if client.xinfo_groups(stream):
                client.xack(stream, keys.GROUP, *old)
            client.xdel(stream, *old)


def _upgrade_session(client: Redis, call: Scripts, prefix: str, session_id: SessionId) -> None:
    fields = client.hgetall(keys.session(session_id))
    if not fields:
        return
    record = client.hget(f"{prefix}d:{fields[b'dataset'].decode()}", "record")
    scaling = dataset_pb2.Dataset.FromString(record or b"").scaling
    session = codec.session_from_fields(
        {b"scaling": b"0", b"atlas_parts": b"1", b"detectors": b"", **fields}, 0, 0
    )
    jobs = session_jobs(
        session_id,
        session.dataset_id,
        session.config,
        observation_count=session.observation_count,
        atlas_parts=atlas_parts(scaling),
    )
    call(
        "upgrade_session",
        prefix,
        session=session_id,
        preparation=jobs.preparation,
        range=jobs.range,
        job_prepare=jobs.prepare,
        job_refine=jobs.refine,
        scaling=scaling if session.gamma else dataset_pb2.SCALING_KIND_UNSPECIFIED,
        atlas_jobs=jobs.atlas,
    )
