"""Settings of the worker process."""

from pydantic import Field

from svddtune.process.settings import ProcessSettings


class Settings(ProcessSettings):
    """A svddtune worker: takes jobs from Redis and computes."""

    hi_only: bool = Field(
        False,
        description="take jobs that a labeler is waiting for, and others only while none come",
    )
    cache_mib: int = Field(
        1024, ge=16, description="memory for datasets that are kept between jobs, in MiB"
    )
    grace_s: float = Field(
        10.0,
        ge=0,
        le=3600,
        description="seconds that a job may still take after SIGTERM or "
        "SIGINT; then it goes back to the queue",
    )
