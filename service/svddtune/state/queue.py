"""JobQueue: how a worker gets jobs and keeps its claim on them. Synchronous.

Two streams per partition: ``hi`` (somebody waits) is always looked at before ``bulk``. The group's
pending list is the table of claims; a claim's consumer and delivery count are its fencing token.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from redis.exceptions import ResponseError

from svddtune.state import keys
from svddtune.state.calls import Scripts, redis_faults
from svddtune.state.connect import BLOCK_MS, Redis
from svddtune.v1 import jobs_pb2

# A claim whose worker gave no sign for this long is another worker's to take.
SILENCE_MS = {"hi": 1000, "bulk": 10_000}
# Age given to a claim that its worker does not want: the next recovery takes it.
ABANDONED_MS = 3_600_000
MAX_DELIVERIES = 3
WORKER_TTL_S = 15


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

    @property
    def token(self) -> tuple[str, str, str, int]:
        """What every commit starts with: stream, entry, consumer, deliveries."""
        return (self.stream, self.entry, self.consumer, self.deliveries)

    @property
    def lane(self) -> str:
        """``hi`` or ``bulk``."""
        return self.stream.rsplit(":", 1)[1]


class JobQueue:
    """The job streams of some partitions, for one worker process."""

    def __init__(
        self,
        client: Redis,
        blocking: Redis,
        *,
        partitions: Sequence[int] = (0,),
        hi_only: bool = False,
    ) -> None:
        self._client = client
        self._blocking = blocking
        self._call = Scripts(client)
        lanes = ("hi",) if hi_only else ("hi", "bulk")
        self._prefixes = [keys.prefix(p) for p in partitions]
        self._lanes = [(prefix, lane) for lane in lanes for prefix in self._prefixes]
        # Unique per process start, so a restarted worker is not taken for the old one.
        self.consumer = uuid4().hex[:16]

    def prepare(self) -> None:
        """Make the streams and their group where they are missing; idempotent."""
        for stream in self._streams():
            with redis_faults():
                try:
                    self._client.xgroup_create(stream, keys.GROUP, id="0", mkstream=True)
                except ResponseError as error:
                    if "BUSYGROUP" not in str(error):
                        raise

    def _streams(self) -> list[str]:
        return [f"{prefix}q:{lane}" for prefix in self._prefixes for lane in ("hi", "bulk")]

    def take(self) -> Claim | None:
        """The next job: hi before bulk, waiting at most a second. None where none came.

        Raises StoreUnavailable.
        """
        with redis_faults():
            try:
                for prefix, lane in self._lanes:
                    claim = self._read({f"{prefix}q:{lane}": ">"}, block=None)
                    if claim:
                        return claim
                return self._wait()
            except ResponseError as error:
                if "NOGROUP" not in str(error):
                    raise
                # The server lost its data: the group is made anew from the start of the stream.
                time.sleep(0.1)
                self.prepare()
                return None

    def _wait(self) -> Claim | None:
        # COUNT holds per stream, so a wake-up may bring one job of each: wait on all lanes, but
        # read nothing more before what came is done.
        streams = {f"{prefix}q:{lane}": ">" for prefix, lane in self._lanes}
        return self._read(streams, block=BLOCK_MS)

    def _read(self, streams: dict[str, str], block: int | None) -> Claim | None:
        reply = self._blocking.xreadgroup(
            keys.GROUP,
            self.consumer,
            streams,
            count=1,
            block=block,
        )
        claims = [
            self._claim(stream.decode(), entry.decode(), fields, 1)
            for stream, entries in reply or ()
            for entry, fields in entries
        ]
        for extra in claims[1:]:
            # Given back at once: it looks abandoned, so the next recovery takes it.
            self._client.xclaim(
                extra.stream,
                keys.GROUP,
                self.consumer,
                0,
                [extra.entry],
                idle=ABANDONED_MS,
                justid=True,
            )
        return claims[0] if claims else None

    def _claim(self, stream: str, entry: str, fields: dict[bytes, bytes], deliveries: int) -> Claim:
        return Claim(
            prefix=stream[: stream.index("q:")],
            stream=stream,
            entry=entry,
            consumer=self.consumer,
            deliveries=deliveries,
            kind=fields[b"kind"].decode(),
            session_id=fields[b"session"].decode(),
            dataset_id=fields[b"dataset"].decode(),
            job=jobs_pb2.Job.FromString(fields[b"payload"]),
        )

    def recover(self) -> Claim | None:
        """Take over one job whose worker fell silent; dead letters are made on the way.

        A job that was delivered too often killed its workers: it is tried no more.
        """
        for prefix, lane in self._lanes:
            stream = f"{prefix}q:{lane}"
            while True:
                reply = self._call("recover", prefix, stream, self.consumer, SILENCE_MS[lane])
                if not reply:
                    break
                claim = self._load(stream, reply["entry"], int(reply["deliveries"]))
                if claim is None:
                    continue
                if claim.deliveries <= MAX_DELIVERIES:
                    return claim
                self.fail(
                    claim,
                    "WORKER_CRASHED",
                    f"{claim.kind} ended its worker {MAX_DELIVERIES} times.",
                    final=True,
                )
        return None

    def _load(self, stream: str, entry: str, deliveries: int) -> Claim | None:
        with redis_faults():
            found = self._client.xrange(stream, entry, entry)
            if not found:
                self._client.xack(stream, keys.GROUP, entry)
                return None
        return self._claim(stream, entry, found[0][1], deliveries)

    def renew(self, claim: Claim) -> None:
        """Show that the worker lives. Raises ClaimLost, StoreUnavailable."""
        self._call("renew", claim.prefix, *claim.token)

    def fail(self, claim: Claim, reason: str, message: str, *, final: bool = False) -> bool:
        """Give a job up, for another try or (``final``, or tried too often) for good.

        True where it became a dead letter; its session then is FAILED with the reason.
        Raises ClaimLost, StoreUnavailable.
        """
        most = 0 if final else MAX_DELIVERIES
        reply = self._call("fail_job", claim.prefix, *claim.token, most, reason, message)
        return bool(reply["dead"])

    def sign_in(self, description: dict[str, object]) -> None:
        """Say for the next seconds that this worker is there."""
        with redis_faults():
            for prefix in self._prefixes:
                name = f"{prefix}worker:{self.consumer}"
                self._client.set(name, json.dumps(description), ex=WORKER_TTL_S)

    def sign_out(self) -> None:
        """Leave: the consumer goes, unless it still holds claims that others must recover."""
        with redis_faults():
            self._client.delete(*(f"{prefix}worker:{self.consumer}" for prefix in self._prefixes))
            for stream in self._streams():
                held = self._client.xpending_range(stream, keys.GROUP, "-", "+", 1, self.consumer)
                if not held:
                    self._client.xgroup_delconsumer(stream, keys.GROUP, self.consumer)
