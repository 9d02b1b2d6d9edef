"""What projects have by definition, compared with what is counted of it.

Each partition is looked at, and counted anew, in one atomic step, so that services may run
meanwhile: what they create or delete comes before that step or after it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from svddtune.state import keys
from svddtune.state.calls import AsyncScripts, Scripts
from svddtune.state.connect import AsyncRedis, Redis
from svddtune.state.faults import redis_faults, store_call
from svddtune.v1 import dataset_pb2

KINDS = ("sessions", "datasets", "bytes")
# Datasets that are read at once.
_AT_ONCE = 1000

# By project and kind: how much is counted, and how much there is.
_Compared = Mapping[str, Mapping[str, tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class ProjectUsage:
    """What a project has, over all partitions."""

    project: str
    # By kind.
    counted: Mapping[str, int]
    found: Mapping[str, int]
    # Whether the counts of all partitions are right.
    right: bool


def compare(client: Redis, partitions: int) -> list[ProjectUsage]:
    """What each project has and what is counted; it changes nothing. Raises StoreUnavailable."""
    call = Scripts(client)
    found: list[_Compared] = []
    for prefix in map(keys.prefix, range(partitions)):
        projects, sizes = _known(client, prefix)
        reply = call("compare_usage", prefix, projects=projects, sizes=sizes)
        found.append(reply.get("projects") or {})
    return _usages(found)


def recount(client: Redis, partitions: int) -> None:
    """Count anew, in all partitions. Raises StoreUnavailable."""
    for partition in range(partitions):
        recount_partition(client, keys.prefix(partition))


def recount_partition(client: Redis, prefix: str) -> None:
    """Count anew in a partition. Raises StoreUnavailable."""
    call = Scripts(client)
    projects, sizes = _known(client, prefix)
    call("recount", prefix, projects=projects, sizes=sizes)


async def recount_partition_async(client: AsyncRedis, prefix: str) -> None:
    """As ``recount_partition``."""
    sizes = {}
    async with store_call():
        found = client.scan_iter(match=f"{prefix}usage:*", count=1000)
        projects = sorted([_project_of(key, prefix) async for key in found])
        for one in await client.zrange(f"{prefix}datasets", 0, -1):
            dataset_id = one.decode()
            mark, record = await client.hmget(f"{prefix}d:{dataset_id}", "counted", "record")
            if mark is None and record is not None:
                sizes[dataset_id] = _size_of(record)
    await AsyncScripts(client)("recount", prefix, projects=projects, sizes=sizes)


def _known(client: Redis, prefix: str) -> tuple[list[str], dict[str, int]]:
    """Projects that something is counted of, and the sizes of what is not counted."""
    with redis_faults():
        projects = sorted(
            _project_of(key, prefix)
            for key in client.scan_iter(match=f"{prefix}usage:*", count=1000)
        )
        return projects, _sizes_of_uncounted(client, prefix)


def _sizes_of_uncounted(client: Redis, prefix: str) -> dict[str, int]:
    """Bytes of the rows of each dataset that nothing counted yet."""
    ids = [one.decode() for one in client.zrange(f"{prefix}datasets", 0, -1)]
    sizes = {}
    for start in range(0, len(ids), _AT_ONCE):
        asked = ids[start : start + _AT_ONCE]
        with client.pipeline(transaction=False) as pipe:
            for one in asked:
                pipe.hget(f"{prefix}d:{one}", "counted")
            marks = pipe.execute()
        for one, mark in zip(asked, marks, strict=True):
            record = None if mark is not None else client.hget(f"{prefix}d:{one}", "record")
            if record is not None:
                sizes[one] = _size_of(record)
    return sizes


def _project_of(key: bytes, prefix: str) -> str:
    return key.decode().removeprefix(f"{prefix}usage:")


def _size_of(record: bytes) -> int:
    described = dataset_pb2.Dataset.FromString(record)
    return int(8 * described.observation_count * described.feature_count)


def _usages(partitions: list[_Compared]) -> list[ProjectUsage]:
    return [
        ProjectUsage(
            project,
            counted=_sums(project, 0, partitions),
            found=_sums(project, 1, partitions),
            right=all(
                counted == found
                for one in partitions
                for counted, found in one.get(project, {}).values()
            ),
        )
        for project in sorted({project for one in partitions for project in one})
    ]


def _sums(project: str, place: int, partitions: list[_Compared]) -> dict[str, int]:
    return {
        kind: int(sum(one[project][kind][place] for one in partitions if project in one))
        for kind in KINDS
    }
