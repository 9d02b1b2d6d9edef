"""Which leases a labeler without a stream has, by what single calls told."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from svddtune.v1 import oracle_pb2 as pb


class LeaseBook:
    """Queries held, by lease id. Who uses it holds one lock around every call.

    A lease whose answer is on the way is in doubt: it is neither extended nor given up until the
    server has said what became of it.
    """

    def __init__(self) -> None:
        self._held: dict[str, pb.Assign] = {}
        self._in_doubt: set[str] = set()

    def __len__(self) -> int:
        return len(self._held)

    def take(self, assigns: Iterable[pb.Assign]) -> list[pb.Assign]:
        """Note what a Lease handed out; return what is new."""
        new = [assign for assign in assigns if assign.lease_id not in self._held]
        self._held.update((assign.lease_id, assign) for assign in new)
        return new

    def count(self, session: str) -> int:
        """Queries held of one session; of all for ""."""
        return sum(1 for assign in self._held.values() if session in ("", assign.session))

    def sessions(self) -> set[str]:
        """Sessions of which something is held."""
        return {assign.session for assign in self._held.values()}

    def leases(self, session: str = "", named: Collection[str] = ()) -> dict[str, list[str]]:
        """Leases by session, none in doubt: those of `session`, of all for "", or those named."""
        found: dict[str, list[str]] = {}
        for lease_id, assign in self._held.items():
            wanted = lease_id in named if named else session in ("", assign.session)
            if wanted and lease_id not in self._in_doubt:
                found.setdefault(assign.session, []).append(lease_id)
        return found

    def doubt(self, lease_id: str) -> None:
        """An answer to the query is on the way."""
        if lease_id:
            self._in_doubt.add(lease_id)

    def settle(self, lease_id: str, *, gone: bool) -> None:
        """The server has said what became of the answer."""
        self._in_doubt.discard(lease_id)
        if gone:
            self._held.pop(lease_id, None)

    def drop(self, lease_id: str) -> pb.Assign | None:
        """Forget a lease; return its query, None where it was not held."""
        return self._held.pop(lease_id, None)

    def clear(self) -> None:
        """Forget all."""
        self._held.clear()
