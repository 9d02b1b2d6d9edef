"""Both clients with the same blocking methods, so that one test proves both.

The asyncio client runs in an event loop in a thread of its own; `Proxy` gives its objects blocking
methods.
"""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar, cast

from svddtune.client import AsyncTuning, AsyncTuningClient, TuningClient

T = TypeVar("T")

FLAVOURS = ("blocking", "asyncio")
LIMIT_S = 60.0


# Opens a client; the arguments are those of `TuningClient`.
Connect: TypeAlias = Callable[..., TuningClient]


@contextmanager
def connecting(flavour: str) -> Iterator[Connect]:
    """Yield a function that opens clients; fail where they leave a thread or a task behind."""
    if flavour == "blocking":
        before = set(threading.enumerate())
        yield TuningClient
        left = [t for t in threading.enumerate() if t not in before and "svddtune" in t.name]
        assert left == []
        return
    with Loop() as loop:

        def connect(address: str, **options: Any) -> TuningClient:
            client = loop.call(lambda: AsyncTuningClient(address, **options))
            return cast(TuningClient, Proxy(client, loop))

        yield connect


class Loop:
    """An event loop in a thread of its own; fails where tasks are left at the end."""

    def __enter__(self) -> "Loop":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="event-loop")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.run(no_task_is_left())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def call(self, function: Callable[[], T]) -> T:
        """Call a function within the loop; return its result."""
        future = Future[T]()

        def called() -> None:
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

        self._loop.call_soon_threadsafe(called)
        return future.result(LIMIT_S)

    def run(self, coroutine: Any) -> Any:
        """Run a coroutine within the loop; return its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(LIMIT_S)

    def plain(self, value: Any) -> Any:
        """Make a value usable without asyncio: await it, iterate over it, or wrap it."""
        if inspect.iscoroutine(value):
            return self.plain(self.run(value))
        if isinstance(value, AsyncIterator):
            return self._steps(value)
        return Proxy(value, self) if isinstance(value, AsyncTuning) else value

    def _steps(self, items: AsyncIterator[Any]) -> Iterator[Any]:
        async def step() -> tuple[Any, ...]:
            try:
                return (await anext(items),)
            except StopAsyncIteration:
                return ()

        while item := self.run(step()):
            yield item[0]


class Proxy:
    """A client or a dialogue of asyncio with blocking methods."""

    def __init__(self, target: Any, loop: Loop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        value = self._loop.call(lambda: getattr(self._target, name))
        if not callable(value):
            return value

        def method(*arguments: Any, **options: Any) -> Any:
            return self._loop.plain(self._loop.call(lambda: value(*arguments, **options)))

        # A property of the blocking client, a coroutine of the asyncio client.
        return method() if name == "session" else method

    def __enter__(self) -> "Proxy":
        self._loop.run(self._target.__aenter__())
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.run(self._target.__aexit__(*exception))


async def no_task_is_left() -> None:
    """Fail where tasks are left in this loop."""
    for _ in range(100):  # gRPC's own tasks need some turns of the loop to end
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if not left:
            return
        await asyncio.wait(left, timeout=0.01)
    raise AssertionError(f"tasks are left: {left}")
