"""JobQueue: how a worker gets jobs and keeps its claim on them. Synchronous.

Two lanes per partition: ``hi`` (a labeler waits for it) and ``bulk`` (all else), both fair between
sessions and datasets, weighted by priority: ``scripts/lib/jobs.lua``. Claims are the pending list
of the lane's stream. A job that goes back becomes a new entry, so a claim's entry is its fencing
token.
"""

import json
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

from redis.exceptions import ResponseError

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import keys
from svddtune.state.calls import Scripts
from svddtune.state.connect import BLOCK_MS, Redis
from svddtune.state.faults import redis_faults

# A claim whose worker gave no sign for this long is put back for others.
SILENCE_MS = {"hi": 1000, "bulk": 5000}
# A job that raised an error so often is given up; so is one that lost so many workers. The second
# is larger: a worker may be killed for reasons that are not the job's.
MAX_ERRORS = 3
MAX_LOST = 10
WORKER_TTL_S = 15
# Where urgent jobs never end, bulk jobs get a turn this often.
BULK_TURN_S = 2.0
# A worker that is kept free for urgent jobs helps with others once none came for this long.
QUIET_S = 3.0

# How a worker's work ended: it left in order, it was killed or fell silent, or its job crashed it.
Ending = Literal["left", "killed", "crashed"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One delivery of one job to this worker."""

    prefix: str
    stream: str
    entry: str
    consumer: str
    deliveries: int
    kind: str
    session_id: str
    dataset_id: str
    job: jobs_pb2.Job
    # How often the job raised an error, and how often its worker vanished, before.
    errors: int = 0
    lost: int = 0
    # The ``traceparent`` of the span that it follows from; "" for none.
    trace: str = ""

    @property
    def token(self) -> dict[str, str | int]:
        """What scripts know the claim by."""
        return {
            "stream": self.stream,
            "entry": self.entry,
            "consumer": self.consumer,
            "deliveries": self.deliveries,
        }

    @property
    def lane(self) -> str:
        """``hi`` or ``bulk``."""
        return self.stream.rsplit(":", 1)[1]

    @property
    def urgent(self) -> bool:
        """Whether a labeler waits for the job."""
        return self.lane == "hi"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What ``JobQueue.recover`` found: jobs put back, and of which kind."""

    # Jobs whose worker vanished, and those of them that are given up.
    lost: int = 0
    dead: int = 0
    # Failed jobs whose pause is over.
    due: int = 0


class JobQueue:
    """The job streams of some partitions, for one worker process.

    ``take`` belongs to one thread; everything else may be called from others.
    """

    def __init__(
        self,
        client: Redis,
        blocking: Redis,
        *,
        partitions: Sequence[int] = (0,),
        hi_only: bool = False,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._blocking = blocking
        self._call = Scripts(client)
        self._hi_only = hi_only
        # Whether other workers are there for bulk jobs.
        self._others_take_bulk = hi_only
        self._monotonic_s = monotonic_s
        self._bulk_turn = 0.0
        self._last_urgent = -math.inf
        # Delivered with another job and not begun.
        self._further: deque[Claim] = deque()
        self._prefixes = [keys.prefix(p) for p in partitions]
        # Unique per process start, so a restarted worker is not taken for the old one.
        self.consumer = uuid4().hex[:16]

    def prepare(self) -> None:
        """Make the streams and their group where they are missing; idempotent."""
        for stream in self._streams("hi", "bulk", "wake"):
            with redis_faults():
                try:
                    self._client.xgroup_create(stream, keys.GROUP, id="0", mkstream=True)
                except ResponseError as error:
                    if "BUSYGROUP" not in str(error):
                        raise

    def _streams(self, *lanes: str) -> list[str]:
        return [f"{prefix}q:{lane}" for lane in lanes for prefix in self._prefixes]

    def take(self) -> Claim | None:
        """The next job: hi before bulk, waiting at most a second. None where none came.

        Where hi jobs do not end, a bulk job comes first every ``BULK_TURN_S``. Raises
        StoreUnavailable; a job that was delivered nevertheless is put back by ``give_back``.
        """
        with redis_faults():
            try:
                return self._take()
            except ResponseError as error:
                if "NOGROUP" not in str(error):
                    raise
                # The server lost its data: the groups are made anew from the start of the streams.
                time.sleep(0.1)
                self.prepare()
                return None

    def take_urgent(self) -> Claim | None:
        """An urgent job that is there already. Raises StoreUnavailable, like ``take``."""
        with redis_faults():
            return self._take_hi()

    @property
    def _takes_bulk(self) -> bool:
        """Whether bulk jobs may occupy this worker now.

        They may occupy a worker for urgent jobs where nobody else takes them, and while nobody
        labels: then there is nothing to keep it free for, and both the first question and the
        result come sooner.
        """
        if not self._others_take_bulk:
            return True
        return self._monotonic_s() - self._last_urgent >= QUIET_S

    def _take(self) -> Claim | None:
        lanes = [self._take_hi, self._take_bulk] if self._takes_bulk else [self._take_hi]
        for look in reversed(lanes) if self._monotonic_s() >= self._bulk_turn else lanes:
            if claim := look():
                return claim
        return self._wait()

    def _take_hi(self) -> Claim | None:
        if self._further:
            return self._begin_urgent(self._further.popleft())
        for stream in self._streams("hi"):
            if found := self._read([stream], block=None):
                return self._begin_urgent(self._claim(*found[0]))
        return None

    def _begin_urgent(self, claim: Claim) -> Claim:
        self._last_urgent = self._monotonic_s()
        return claim

    def _take_bulk(self, woken_by: Sequence[tuple[str, str]] = ()) -> Claim | None:
        self._bulk_turn = self._monotonic_s() + BULK_TURN_S
        for prefix in self._prefixes:
            tokens = [entry for stream, entry in woken_by if stream.startswith(prefix)]
            woken_by = [one for one in woken_by if not one[0].startswith(prefix)]
            reply = self._call("take_bulk", prefix, consumer=self.consumer, woken_by=tokens)
            if "entry" in reply:
                for one in woken_by:
                    self._wake_another(*one)
                stream = f"{prefix}q:bulk"
                for entry, fields in self._client.xrange(stream, reply["entry"], reply["entry"]):
                    return self._claim(stream, entry.decode(), fields)
        return None

    def _wait(self) -> Claim | None:
        wake = self._streams("wake") if self._takes_bulk else []
        found = self._read(self._streams("hi") + wake, BLOCK_MS)
        # COUNT holds per stream: a wake-up may bring a job of each partition.
        self._further.extend(self._claim(*one) for one in found if one[0] not in wake)
        if self._further:
            for stream, entry, _ in found:
                if stream in wake:
                    self._wake_another(stream, entry)
            return self._begin_urgent(self._further.popleft())
        woken_by = [(stream, entry) for stream, entry, _ in found]
        return self._take_bulk(woken_by) if woken_by else None

    def _wake_another(self, stream: str, entry: str) -> None:
        self._client.xack(stream, keys.GROUP, entry)
        self._client.xdel(stream, entry)
        self._client.xadd(stream, {"bulk": 1}, maxlen=64, approximate=False)

    def _read(
        self, streams: list[str], block: int | None
    ) -> list[tuple[str, str, dict[bytes, bytes]]]:
        reply = self._blocking.xreadgroup(
            keys.GROUP, self.consumer, dict.fromkeys(streams, ">"), count=1, block=block
        )
        return [
            (stream.decode(), entry.decode(), fields)
            for stream, entries in reply or ()
            for entry, fields in entries
        ]

    def _claim(self, stream: str, entry: str, fields: dict[bytes, bytes]) -> Claim:
        return Claim(
            prefix=stream[: stream.index("q:")],
            stream=stream,
            entry=entry,
            consumer=self.consumer,
            deliveries=1,
            kind=fields[b"kind"].decode(),
            session_id=fields[b"session"].decode(),
            dataset_id=fields[b"dataset"].decode(),
            job=jobs_pb2.Job.FromString(fields[b"payload"]),
            errors=int(fields.get(b"errors", 0)),
            lost=int(fields.get(b"lost", 0)),
            trace=fields.get(b"trace", b"").decode(),
        )

    def recover(self) -> Recovered:
        """Put back jobs whose worker fell silent and failed ones whose pause is over; idempotent.

        A job that lost too many workers becomes a dead letter. Raises StoreUnavailable.
        """
        lost = dead = due = 0
        for prefix in self._prefixes:
            reply = self._call(
                "recover",
                prefix,
                hi_silence_ms=SILENCE_MS["hi"],
                bulk_silence_ms=SILENCE_MS["bulk"],
                sign_ms=1000 * WORKER_TTL_S,
                most_lost=MAX_LOST,
            )
            if reply:
                lost, dead, due = lost + reply["lost"], dead + reply["dead"], due + reply["due"]
        return Recovered(lost, dead, due)

    def renew(self, claim: Claim) -> bool:
        """Show that the worker lives. True while somebody needs what the job makes.

        Raises ClaimLost, StoreUnavailable.
        """
        return bool(self._call("renew", claim.prefix, claim=claim.token)["wanted"])

    def fail(self, claim: Claim, reason: str, message: str, *, final: bool = False) -> bool:
        """Give a job up, for another try or (``final``, or tried too often) for good.

        True where it became a dead letter; its session then is FAILED with the reason.
        Raises ClaimLost, StoreUnavailable.
        """
        reply = self._call(
            "fail_job",
            claim.prefix,
            claim=claim.token,
            most_errors=1 if final else MAX_ERRORS,
            reason=reason,
            message=message,
        )
        return bool(reply["dead"])

    def give_back(self) -> int:
        """Put back what this worker holds, uncounted; how many jobs. Raises StoreUnavailable."""
        self._further.clear()
        return sum(
            let_go(self._client, prefix, self.consumer, "left", for_good=False)
            for prefix in self._prefixes
        )

    def sign_in(self, description: dict[str, object]) -> None:
        """Say for the next seconds that this worker is there. Raises StoreUnavailable."""
        served = True
        with redis_faults():
            for prefix in self._prefixes:
                name = f"{prefix}worker:{self.consumer}"
                self._client.set(name, json.dumps(description), ex=WORKER_TTL_S)
                self._client.set(prefix + "q:attended", self.consumer, ex=WORKER_TTL_S)
                if self._hi_only:
                    served = served and bool(self._client.exists(prefix + "q:served"))
                else:
                    self._client.set(prefix + "q:served", self.consumer, ex=WORKER_TTL_S)
        self._others_take_bulk = self._hi_only and served

    def forget_workers(self, *, silence_s: float = WORKER_TTL_S) -> int:
        """Remove the consumers of workers that were silent for so long; of how many. Idempotent.

        Those with jobs stay until ``recover`` has put these back. Raises StoreUnavailable.
        """
        forgotten = 0
        for prefix in self._prefixes:
            reply = self._call("forget_workers", prefix, silence_ms=round(1000 * silence_s))
            forgotten = max(forgotten, reply.get("forgotten") or 0)
        return forgotten

    def sign_out(self) -> None:
        """Leave: what it holds goes back, and the consumer goes. Raises StoreUnavailable."""
        for prefix in self._prefixes:
            let_go(self._client, prefix, self.consumer, "left")


def let_go(
    client: Redis,
    prefix: str,
    consumer: str,
    how: Ending,
    words: str = "",
    *,
    for_good: bool = True,
) -> int:
    """Put back what a worker holds that works on nothing more; how many jobs. Idempotent.

    ``how`` its work ended decides what is counted against its jobs, ``words`` say more. With
    ``for_good`` the worker is gone. Raises StoreUnavailable.
    """
    reply = Scripts(client)(
        "let_go",
        prefix,
        consumer=consumer,
        ending=how,
        most_errors=MAX_ERRORS,
        most_lost=MAX_LOST,
        words=words,
        for_good=for_good,
    )
    return int(reply["released"])
