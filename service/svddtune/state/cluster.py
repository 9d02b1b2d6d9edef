"""Clients of a Redis Cluster: each command goes to the master that has its partition.

The driver's own client shares no round trips and does not block on several masters. All
keys of a command are in one partition, so the first one tells the master. A client of one server
does the rest.

While a slot moves from one master to another, its keys are on both. A script would find only some
of them, so nothing is asked of the new master before it has them all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import redis
import redis.asyncio
from redis.asyncio.client import Pipeline as AsyncPipeline
from redis.client import Pipeline
from redis.exceptions import AskError, MovedError, RedisError

from svddtune.state.address import Address, Node
from svddtune.state.cluster_wait import FirstReply
from svddtune.state.retries import AsyncRetries, Retries
from svddtune.state.slots import Topology, slot_of, slot_of_key

T = TypeVar("T")

# A slot that was moved twice within a call is news; one that moves for ever is a fault.
_MOST_REDIRECTIONS = 5


class _AllPools(redis.asyncio.ConnectionPool):
    """Stands for the pools of all masters where connections are to be forgotten."""

    cluster: "AsyncCluster"

    async def update_active_connections_for_reconnect(self) -> None:
        """Use no connection again that is open now."""
        for client in self.cluster.clients:
            await client.connection_pool.update_active_connections_for_reconnect()

    async def disconnect(self, inuse_connections: bool = True) -> None:
        """Close connections; the map of slots is read anew."""
        self.cluster.topology.stale = True
        for client in self.cluster.clients:
            await client.connection_pool.disconnect(inuse_connections=inuse_connections)


class AsyncCluster(redis.asyncio.Redis):
    """An asynchronous client; ``make`` makes that of one master from its URL."""

    def __init__(self, address: Address, make: Callable[[str], Any], *, patience_s: float) -> None:
        pool = _AllPools.from_url(address.at(address.nodes[0]), protocol=2)
        pool.cluster = self
        super().__init__(connection_pool=pool)
        self._address, self._make = address, make
        self._nodes: dict[Node, Any] = {}
        self._retries = AsyncRetries(patience_s, cluster=True)
        self._refreshing = asyncio.Lock()
        # Blocked reads by slot.
        self._reads: dict[int, asyncio.Task[Any]] = {}
        self.topology = Topology(address.nodes)
        # Runs the commands whose effect is promised to a caller.
        self.durable = _Durable(self)

    @property
    def clients(self) -> list[Any]:
        """Clients of the servers that were asked so far."""
        return list(self._nodes.values())

    async def masters(self) -> list[Any]:
        """A client for each master that has slots."""
        await self._refresh()
        return [self._client_at(node) for node in self.topology.masters]

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run one command where its key is."""
        return await self.routed(
            slot_of(args), lambda client: client.execute_command(*args, **options)
        )

    async def together(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Replies to several reads, in their order."""
        return await asyncio.gather(*[self.execute_command(*one) for one in commands])

    def pipeline(
        self, transaction: bool = True, shard_hint: str | None = None
    ) -> "_AsyncRoutedPipeline":
        """Commands that go together; a transaction holds within a partition."""
        return _AsyncRoutedPipeline(self, transaction)

    async def xread(  # type: ignore[override]
        self, streams: Any, count: int | None = None, block: int | None = None
    ) -> Any:
        """Entries of the first partition that has some. Others are read on meanwhile.

        A read that is under way is not begun anew: it goes on from the positions that it began at.
        """
        by_slot: dict[int, dict[Any, Any]] = {}
        for stream, position in streams.items():
            by_slot.setdefault(slot_of_key(stream), {})[stream] = position
        for slot, part in by_slot.items():
            if slot not in self._reads:
                work = self.routed(slot, _reading(part, count, block))
                self._reads[slot] = asyncio.create_task(work)
        await asyncio.wait(self._reads.values(), return_when=asyncio.FIRST_COMPLETED)
        over = {slot: task for slot, task in self._reads.items() if task.done()}
        for slot in over:
            del self._reads[slot]
        found: list[Any] = []
        for reply in await asyncio.gather(*over.values(), return_exceptions=True):
            if isinstance(reply, BaseException):
                raise reply
            found += reply or []
        return found

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Give connections back."""
        reads = list(self._reads.values())
        for task in reads:
            task.cancel()
        await asyncio.gather(*reads, return_exceptions=True)
        for client in self.clients:
            await client.aclose()

    async def routed(self, slot: int, run: Callable[[Any], Awaitable[T]]) -> T:
        """What ``run`` makes of the client of the master that has a slot."""

        async def attempt() -> T:
            if self.topology.stale:
                await self._refresh()
            node = self.topology.node_of(slot)
            for _ in range(_MOST_REDIRECTIONS):
                try:
                    return await run(self._client_at(node))
                except MovedError as error:
                    node = self.topology.moved(error, node)
            return await run(self._client_at(node))

        return await self._retries.call_with_retry(attempt, self._note_failure)

    async def _note_failure(self, error: Exception) -> None:
        # (A slot on its way is where it was.)
        if type(error) is not AskError:
            self.topology.stale = True

    def _client_at(self, node: Node) -> Any:
        if node not in self._nodes:
            self._nodes[node] = self._make(self._address.at(node))
        return self._nodes[node]

    async def _refresh(self) -> None:
        """Read the map from the first server that answers. Raises RedisError."""
        async with self._refreshing:
            if not self.topology.stale:
                return
            fault: RedisError | None = None
            for node in self.topology.known:
                try:
                    client = self._client_at(node)
                    slots = await client.execute_command("CLUSTER SLOTS")
                except RedisError as error:
                    fault = error
                    continue
                self.topology.learn(slots, node)
                return
            assert fault is not None
            raise fault


def _reading(
    streams: Mapping[Any, Any], count: int | None, block: int | None
) -> Callable[[Any], Awaitable[Any]]:
    return lambda client: client.xread(streams, count=count, block=block)


class _Durable(redis.asyncio.Redis):
    """Commands of a Cluster whose replies wait for replicas, where the service wants that."""

    def __init__(self, cluster: AsyncCluster) -> None:
        super().__init__(connection_pool=cluster.connection_pool)
        self._cluster = cluster

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run one command where its key is."""
        return await self._cluster.routed(
            slot_of(args), lambda client: client.durable.execute_command(*args, **options)
        )


def _by_slot(commands: Sequence[tuple[tuple[Any, ...], Any]]) -> dict[int, list[int]]:
    """Places of a pipeline's commands by slot."""
    places: dict[int, list[int]] = {}
    for place, (args, _) in enumerate(commands):
        places.setdefault(slot_of(args), []).append(place)
    return places


class _AsyncRoutedPipeline(AsyncPipeline):
    """Collects commands, then sends those of each partition in a pipeline of their own."""

    def __init__(self, cluster: AsyncCluster, transaction: bool) -> None:
        super().__init__(cluster.connection_pool, cluster.response_callbacks, transaction, None)
        self._cluster = cluster

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send what was collected; replies in its order."""
        commands = list(self.command_stack)
        await self.reset()  # type: ignore[no-untyped-call]
        replies: list[Any] = [None] * len(commands)

        async def send(slot: int, places: list[int]) -> None:
            async def run(client: Any) -> list[Any]:
                pipe = client.pipeline(transaction=self.is_transaction)
                for place in places:
                    args, options = commands[place]
                    pipe.execute_command(*args, **options)
                return list(await pipe.execute(raise_on_error=raise_on_error))

            found = await self._cluster.routed(slot, run)
            for place, reply in zip(places, found, strict=True):
                replies[place] = reply

        await asyncio.gather(*[send(*one) for one in _by_slot(commands).items()])
        return replies


class Cluster(redis.Redis):
    """A synchronous client; ``make`` makes that of one master from its URL."""

    def __init__(self, address: Address, make: Callable[[str], Any], *, patience_s: float) -> None:
        pool = redis.ConnectionPool.from_url(address.at(address.nodes[0]), protocol=2)
        super().__init__(connection_pool=pool)
        self._address, self._make = address, make
        self._nodes: dict[Node, Any] = {}
        self._retries = Retries(patience_s, cluster=True)
        self._first_reply = FirstReply()
        self.topology = Topology(address.nodes)

    def masters(self) -> list[Any]:
        """A client for each master that has slots."""
        self._refresh()
        return [self._client_at(node) for node in self.topology.masters]

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run one command where its key is."""
        return self.routed(slot_of(args), lambda client: client.execute_command(*args, **options))

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> "_RoutedPipeline":
        """Commands that go together; a transaction holds within a partition."""
        return _RoutedPipeline(self, transaction)

    def xreadgroup(  # type: ignore[override]
        self,
        groupname: Any,
        consumername: Any,
        streams: Any,
        count: int | None = None,
        block: int | None = None,
        **further: Any,
    ) -> Any:
        """Entries of the first partition that has some; it waits on all of them at once."""
        by_slot: dict[int, dict[Any, Any]] = {}
        for stream, position in streams.items():
            by_slot.setdefault(slot_of_key(stream), {})[stream] = position
        if len(by_slot) == 1 or block is None:
            found: list[Any] = []
            for slot, part in by_slot.items():
                found += self.routed(slot, _taking(groupname, consumername, part, count, block))
            return found
        tail = {
            slot: ("COUNT", count or 1, "BLOCK", block, "STREAMS", *part, *part.values())
            for slot, part in by_slot.items()
        }
        commands = {
            slot: ("XREADGROUP", "GROUP", groupname, consumername, *one)
            for slot, one in tail.items()
        }
        try:
            if self.topology.stale:
                self._refresh()
            return self._first_reply.of(
                {
                    slot: (self._client_at(self.topology.node_of(slot)), command)
                    for slot, command in commands.items()
                }
            )
        except RedisError:
            self.topology.stale = True
            raise

    def close(self) -> None:
        """Give connections back."""
        self._first_reply.close()
        for client in self._nodes.values():
            client.close()
        super().close()

    def routed(self, slot: int, run: Callable[[Any], T]) -> T:
        """What ``run`` makes of the client of the master that has a slot."""

        def attempt() -> T:
            if self.topology.stale:
                self._refresh()
            node = self.topology.node_of(slot)
            for _ in range(_MOST_REDIRECTIONS):
                try:
                    return run(self._client_at(node))
                except MovedError as error:
                    node = self.topology.moved(error, node)
            return run(self._client_at(node))

        return self._retries.call_with_retry(attempt, self._note_failure)

    def _note_failure(self, error: Exception) -> None:
        if type(error) is not AskError:
            self.topology.stale = True

    def _client_at(self, node: Node) -> Any:
        if node not in self._nodes:
            self._nodes[node] = self._make(self._address.at(node))
        return self._nodes[node]

    def _refresh(self) -> None:
        """Read the map from the first server that answers. Raises RedisError."""
        fault: RedisError | None = None
        for node in self.topology.known:
            try:
                client = self._client_at(node)
                slots = client.execute_command("CLUSTER SLOTS")
            except RedisError as error:
                fault = error
                continue
            self.topology.learn(slots, node)
            return
        assert fault is not None
        raise fault


def _taking(
    group: Any, consumer: Any, streams: Any, count: Any, block: Any
) -> Callable[[Any], Any]:
    return lambda client: (
        client.xreadgroup(group, consumer, streams, count=count, block=block) or []
    )


class _RoutedPipeline(Pipeline):
    """Collects commands, then sends those of each partition in a pipeline of their own."""

    def __init__(self, cluster: Cluster, transaction: bool) -> None:
        super().__init__(cluster.connection_pool, cluster.response_callbacks, transaction, None)
        self._cluster = cluster

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send what was collected; replies in its order."""
        commands = list(self.command_stack)
        self.reset()
        replies: list[Any] = [None] * len(commands)
        for slot, places in _by_slot(commands).items():

            def run(client: Any, places: list[int] = places) -> list[Any]:
                pipe = client.pipeline(transaction=self.transaction)
                for place in places:
                    args, options = commands[place]
                    pipe.execute_command(*args, **options)
                return list(pipe.execute(raise_on_error=raise_on_error))

            found = self._cluster.routed(slot, run)
            for place, reply in zip(places, found, strict=True):
                replies[place] = reply
        return replies
