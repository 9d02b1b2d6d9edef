"""How long a job may take, and how much memory its worker may use."""

import math
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_STATUS = Path("/proc/self/status")
# How often the memory is looked at. A look takes about 50 us.
LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a worker; none by default.

    Attributes
    ----------
    job_s : float
        Seconds that a job may take, urgent jobs that went first not counted.
    memory_bytes : float
        Memory of its own that the process may use. Mapped files do not count.
    """

    job_s: float = math.inf
    memory_bytes: float = math.inf


class OverLimit(Exception):
    """A job is over a limit; ``reason`` is ``JOB_TIME_LIMIT`` or ``OUT_OF_MEMORY``."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Meter:
    """Holds one job to the limits, from its beginning on."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._begun = time.monotonic()
        self._next_look = 0.0

    def check(self) -> None:
        """Raise OverLimit where the job is over a limit."""
        now = time.monotonic()
        took_s = now - self._begun
        if took_s > self._limits.job_s:
            raise OverLimit(
                "JOB_TIME_LIMIT",
                f"A job took {took_s:.1f} s and was stopped; it may take {self._limits.job_s:g} s. "
                "Use fewer observations or features, or start workers with a larger --job-s.",
            )
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY_S
            used = own_bytes()
            if used > self._limits.memory_bytes:
                raise OverLimit("OUT_OF_MEMORY", memory_message(self._limits, used))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time of the body."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._begun += time.monotonic() - begun


def memory_message(limits: Limits, used: int | None = None) -> str:
    """What to say of a job that needs more memory than there is."""
    used = own_bytes() if used is None else used
    if math.isinf(limits.memory_bytes):
        return f"The worker ran out of memory at {used >> 20} MiB."
    return (
        f"The worker ran out of memory: it used {used >> 20} MiB and may use "
        f"{int(limits.memory_bytes) >> 20} MiB. Use fewer observations or features, or start "
        "workers with a larger --memory-mib."
    )


def limit_allocations(limits: Limits) -> None:
    """Let an allocation fail that takes the process beyond the limit, from now on.

    It ends a job between two checks. What the process has reserved at its start does not count:
    libraries reserve more than they use. A lower limit of the system stays.
    """
    if math.isinf(limits.memory_bytes):
        return
    bound = int(limits.memory_bytes) + _status("VmData")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or bound < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))


def own_bytes() -> int:
    """Memory of its own that this process uses, in bytes; 0 where the system does not say."""
    return _status("RssAnon")


def _status(name: str) -> int:
    """A size in bytes that the kernel counts; 0 on other systems than Linux."""
    if not _STATUS.exists():
        return 0
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0
