"""The live evidence of sessions, by rev of the labels: a worker reads only what is new.

Evidence grows with the labels, and every ranking needs all of it. Only the entry of the highest rev
may still be replaced, so what a worker has read before stays valid. A worker that has read nothing
reads all.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from svddtune.state.connect import Redis

# Revs that are read along with a snapshot: more labels rarely come between two rankings.
WINDOW = 64
# Sessions whose evidence is kept.
MOST_SESSIONS = 32


class EvidenceReader:
    """Reads the evidence of sessions for one worker process."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._known: OrderedDict[str, dict[bytes, bytes]] = OrderedDict()

    def request(self, pipe: Any, key: str) -> list[bytes]:
        """Add two commands to a pipeline that read what may be new; the revs asked for."""
        first = max(map(int, self._known.get(key, ())), default=0)
        window = [str(rev).encode() for rev in range(first, first + WINDOW)]
        pipe.hlen(key)
        pipe.hmget(key, window)
        return window

    def evidence(
        self, key: str, window: Sequence[bytes], count: int, found: Sequence[bytes | None]
    ) -> dict[bytes, bytes]:
        """All evidence: LiveEvidence messages by rev.

        ``window`` is what ``request`` returned, ``count`` and ``found`` are the replies to its
        commands. Where these do not complete what is known, everything is read anew.
        """
        known = self._known.pop(key, {}) | {
            rev: message for rev, message in zip(window, found, strict=True) if message is not None
        }
        if len(known) != count:
            known = self._client.hgetall(key)
        self._known[key] = known
        if len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        return dict(known)
