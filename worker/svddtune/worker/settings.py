"""Settings of the worker process."""

from pydantic import Field

from svddtune.process.settings import ProcessSettings


class Settings(ProcessSettings):
    """A svddtune worker: takes jobs from Redis and computes."""

    hi_only: bool = Field(False, description="take only jobs that somebody waits for")
    cache_mib: int = Field(1024, ge=16, description="memory for datasets kept between jobs, MiB")
    grace_s: float = Field(
        10.0, ge=0, le=3600, description="after a signal a job may take so long; then it goes back"
    )
