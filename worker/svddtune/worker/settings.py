"""Settings of the worker process."""

from pathlib import Path

from platformdirs import user_cache_path
from pydantic import Field, field_validator

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
    dataset_cache: Path = Field(
        user_cache_path("svddtune") / "datasets",
        description="folder for copies of datasets that are in the dataset store; workers of one "
        "machine may share it",
    )
    dataset_cache_mib: int = Field(
        10_240,
        ge=64,
        description="size of these copies, in MiB, above which the least recently used ones go",
    )
    job_s: float = Field(
        3600.0,
        gt=0,
        description="seconds that a job may take; a session whose job takes longer fails with "
        "JOB_TIME_LIMIT",
    )
    alive_file: Path | None = Field(
        None,
        description="file that is written whenever Redis has been told that this worker is there, "
        "every 5 seconds; a container's health check looks at its age",
    )
    grace_s: float = Field(
        10.0,
        ge=0,
        le=3600,
        description="seconds that a job may still take after SIGTERM or "
        "SIGINT; then it goes back to the queue",
    )

    @field_validator("alive_file")
    @classmethod
    def _writable(cls, value: Path | None) -> Path | None:
        if value is not None:
            try:
                value.touch()
            except OSError as error:
                raise ValueError(f"it cannot be written ({error.strerror})") from None
        return value
