"""An asynchronous client whose concurrent commands share round trips.

A command of redis-py costs the service most of its time in the pool, timers and the socket, not in
the command itself. Here commands that are made while the event loop is busy, or while earlier ones
are on their way, go to Redis in one pipeline.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

import redis.asyncio

from svddtune.state.retries import DEMOTED, forget_connections

# Pipelines on their way at once. Further commands wait for the first of them to return, and then
# go together.
_MOST_PIPELINES = 4
# Commands in one pipeline: the first reply comes when the last command is done.
_MOST_COMMANDS = 16
# A command with an argument longer than this goes alone: it would delay the others.
_LONG = 1 << 16

Command = tuple[tuple[Any, ...], dict[str, Any], asyncio.Future[Any]]


class PipeliningRedis(redis.asyncio.Redis):
    """Commands are those of redis-py, and so are their replies, errors and retries.

    Concurrent commands may run in any order. A command that has been sent is completed even if its
    caller is cancelled, so no connection is left in the middle of a reply. Commands that block
    belong to a client of their own.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._waiting: deque[Command] = deque()
        self._sending: set[asyncio.Task[None]] = set()
        # A task of ``_sending`` has not begun yet: it will take all commands that wait by then.
        self._begins = False
        # Runs the commands whose effect is promised to a caller.
        self.durable: PipeliningRedis = self

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run one command, in a pipeline with others."""
        if any(isinstance(one, bytes) and len(one) > _LONG for one in args):
            return await self._alone(args, options)
        try:
            return await self._send(args, options)
        except DEMOTED:
            return (await self._again([args], options))[0]

    async def masters(self) -> "list[PipeliningRedis]":
        """Clients of all servers that hold data: of this one."""
        return [self]

    async def together(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Replies to several reads, in their order. A read is the name of a command and arguments.

        They may run at different moments, unlike those of a transaction.
        """
        try:
            return await asyncio.gather(*[self._send(command, {}) for command in commands])
        except DEMOTED:
            return await self._again(commands, {})

    async def _again(
        self, commands: Sequence[tuple[Any, ...]], options: dict[str, Any]
    ) -> list[Any]:
        """Replies to commands that a server refused because it is not the master any more.

        Inside a pipeline redis-py makes no further attempt.
        """
        await forget_connections(self.connection_pool)
        return [await self._alone(args, options) for args in commands]

    async def _alone(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The reply to a command that shares its round trip with none."""
        run: Any = super().execute_command
        return await run(*args, **options)

    def _send(self, args: tuple[Any, ...], options: dict[str, Any]) -> asyncio.Future[Any]:
        """The future reply to a command."""
        reply = asyncio.get_running_loop().create_future()
        self._waiting.append((args, options, reply))
        if not self._begins and len(self._sending) < _MOST_PIPELINES:
            self._begins = True
            task = asyncio.create_task(self._send_waiting())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return reply

    async def _send_waiting(self) -> None:
        self._begins = False
        while batch := self._next_batch():
            try:
                replies = await self._replies(batch)
            except Exception as error:
                replies = [error] * len(batch)
            for (_, _, reply), found in zip(batch, replies, strict=True):
                if reply.done():
                    continue
                if isinstance(found, Exception):
                    reply.set_exception(found)
                else:
                    reply.set_result(found)

    async def _replies(self, batch: list[Command]) -> list[Any]:
        if len(batch) == 1:
            # (A pipeline of one command costs more than the command.)
            ((args, options, _),) = batch
            return [await self._alone(args, options)]
        pipeline: Any = self.pipeline(transaction=False)
        for args, options, _ in batch:
            pipeline.execute_command(*args, **options)
        return list(await pipeline.execute(raise_on_error=False))

    def _next_batch(self) -> list[Command]:
        """The commands that have waited longest, without those whose callers have left."""
        batch: list[Command] = []
        while self._waiting and len(batch) < _MOST_COMMANDS:
            command = self._waiting.popleft()
            if not command[2].done():
                batch.append(command)
        return batch
