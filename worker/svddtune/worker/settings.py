"""Settings of the worker process."""

from pydantic import Field

from svddtune.process.settings import ProcessSettings


class Settings(ProcessSettings):
    """A svddtune worker: takes jobs from Redis and computes."""

    hi_only: bool = Field(False, description="take only jobs that somebody waits for")
    cache_mib: int = Field(1024, ge=16, description="memory for datasets kept between jobs, MiB")
