"""Which master of a Cluster has a command's keys."""

from collections.abc import Sequence
from typing import Any

from redis.crc import key_slot
from redis.exceptions import ClusterDownError, MovedError

from svddtune.state.address import Node

_BEFORE_STREAMS = ("XREAD", "XREADGROUP")
_SCRIPTS = ("EVAL", "EVALSHA")
# Commands without a key. Any master can answer them; it is that of the first partition.
_WITHOUT_KEY = frozenset(
    {"INFO", "PING", "TIME", "ECHO", "CONFIG", "CLIENT", "CLUSTER", "SCRIPT", "ACL", "COMMAND"}
    | {"DBSIZE", "FLUSHALL", "KEYS", "LASTSAVE", "MEMORY", "ROLE", "WAIT"}
)
_ANYWHERE = "svddtune:{p00}:"


def slot_of(args: Sequence[Any]) -> int:
    """The slot of a command's first key; all its keys are in one partition, and so in one slot."""
    name = str(args[0]).upper()
    if name in _SCRIPTS:
        key = args[3]
    elif name in _BEFORE_STREAMS:
        key = args[1 + next(i for i, one in enumerate(args) if one in ("STREAMS", b"STREAMS"))]
    elif name == "SCAN":
        # A pattern names the partition as its keys do.
        key = next((one for one in args if "{p" in str(one)), _ANYWHERE)
    elif name.split(" ")[0] in _WITHOUT_KEY:
        key = _ANYWHERE
    else:
        key = args[1]
    return slot_of_key(key)


def slot_of_key(key: str | bytes) -> int:
    """The slot of a key."""
    return int(key_slot(key if isinstance(key, bytes) else key.encode()))


def _text(host: bytes | str | None) -> str:
    """A host; a server that does not know its own says nothing, or NULL."""
    return host.decode() if isinstance(host, bytes) else host or ""


class Topology:
    """Masters by slot, as far as it is known."""

    def __init__(self, seeds: Sequence[Node]) -> None:
        self._seeds = tuple(seeds)
        self._ranges: list[tuple[int, int, Node]] = []
        # What servers said of single slots since.
        self._moved: dict[int, Node] = {}
        # The map is to be read anew.
        self.stale = True

    @property
    def known(self) -> list[Node]:
        """Servers that may know the map, those named by the user last."""
        return list(dict.fromkeys([*self.masters, *self._seeds]))

    @property
    def masters(self) -> list[Node]:
        """Masters that have slots."""
        return list(dict.fromkeys(node for _, _, node in self._ranges))

    def learn(self, slots: Sequence[Sequence[Any]], asked: Node) -> None:
        """Take in a server's reply to CLUSTER SLOTS."""
        self._ranges = [
            (int(start), int(end), (_text(master[0]) or asked[0], int(master[1])))
            for start, end, master, *_ in slots
        ]
        self._moved.clear()
        self.stale = not self._ranges

    def moved(self, error: MovedError, asked: Node) -> Node:
        """Where a slot is, by the word of the server that was asked for it."""
        node = (_text(error.host) or asked[0], int(error.port))
        self._moved[int(error.slot_id)] = node
        return node

    def node_of(self, slot: int) -> Node:
        """The master of a slot. Raises ClusterDownError where none is known."""
        if node := self._moved.get(slot):
            return node
        for start, end, node in self._ranges:
            if start <= slot <= end:
                return node
        raise ClusterDownError(f"CLUSTERDOWN no master has slot {slot}")
