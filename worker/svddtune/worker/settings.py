"""Settings of a worker process, from ``SVDDTUNE_*`` and the command line."""

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Frozen once built. A wrong value raises pydantic's ValidationError."""

    model_config = SettingsConfigDict(
        env_prefix="SVDDTUNE_", frozen=True, extra="ignore", cli_hide_none_type=True
    )

    redis: str = Field("redis://127.0.0.1:6379/0", description="URL of the Redis-compatible server")
    partitions: int = Field(1, ge=1, le=4096, description="partitions of the deployment")
    hi_only: bool = Field(False, description="take only jobs that somebody waits for")
    cache_mib: int = Field(1024, ge=16, description="memory for datasets kept between jobs, MiB")
    log_format: str = Field("console", description="console or json")

    @field_validator("log_format")
    @classmethod
    def _known_format(cls, value: str) -> str:
        if value not in ("console", "json"):
            raise ValueError("must be console or json")
        return value
