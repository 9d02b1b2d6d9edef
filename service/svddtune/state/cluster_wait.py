"""The first reply to blocking reads on several connections at once.

A Cluster takes no read of streams in different slots, so each partition is waited for on a
connection of its own. Once one has something, the others are told to stop waiting. What they were
given by then is returned as well.
"""

import select
import time
from collections.abc import Mapping
from typing import Any

from redis.exceptions import ConnectionError, RedisError


class _Waiting:
    """A connection that waits for one slot."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.connection = client.connection_pool.get_connection()
        try:
            self.connection.send_command("CLIENT", "ID")
            self._id = self.connection.read_response()
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """For select."""
        number: int = self.connection._sock.fileno()
        return number

    def stop_waiting(self) -> None:
        """Let the server reply now; where it just has, this does nothing."""
        self.client.execute_command("CLIENT UNBLOCK", self._id)

    def close(self) -> None:
        """The connection may be in the middle of a reply: it is of no further use."""
        self.connection.disconnect()
        self.client.connection_pool.release(self.connection)


class FirstReply:
    """Connections that wait, kept from one wait to the next. For one thread."""

    def __init__(self) -> None:
        self._waiting: dict[int, _Waiting] = {}

    def of(self, commands: Mapping[int, tuple[Any, tuple[Any, ...]]]) -> list[Any]:
        """Entries of the streams that had some first.

        ``commands`` has, by slot, the client and a read that blocks. Raises RedisError.
        """
        try:
            for slot, (client, command) in commands.items():
                self._at(slot, client).connection.send_command(*command)
            waiting = [self._waiting[slot] for slot in commands]
            ready = _first_of(waiting)
            for one in waiting:
                if one not in ready:
                    one.stop_waiting()
            replies = [one.client.parse_response(one.connection, "XREADGROUP") for one in waiting]
        except (RedisError, OSError):
            # What was delivered meanwhile is put back as the jobs of a silent worker are.
            self.close()
            raise
        return [entry for reply in replies for entry in reply or ()]

    def close(self) -> None:
        """Close the connections."""
        for one in self._waiting.values():
            one.close()
        self._waiting.clear()

    def _at(self, slot: int, client: Any) -> _Waiting:
        found = self._waiting.get(slot)
        if found is not None and found.client is not client:
            found.close()
            found = None
        if found is None:
            found = self._waiting[slot] = _Waiting(client)
        return found


def _first_of(waiting: list[_Waiting]) -> list[_Waiting]:
    """Those that have a reply, as soon as one has."""
    # (Each read ends by itself after its time.)
    longest_s = 3.0
    began = time.monotonic()
    ready, _, _ = select.select(waiting, [], [], longest_s)
    if not ready:
        raise ConnectionError(f"no reply to a blocking read in {time.monotonic() - began:.1f} s")
    return list(ready)
