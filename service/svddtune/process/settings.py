"""Settings of a process, read once: command line before ``SVDDTUNE_*`` before default."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from svddtune.cost import DEFAULT_MEMORY_MIB
from svddtune.process.addresses import is_host_and_port
from svddtune.text import redacted

_PREFIX = "SVDDTUNE_"
_SCHEMES = ("redis://", "rediss://", "unix://")
# Several hosts, which the connection reads.
_OF_SEVERAL = (
    "redis+cluster://",
    "rediss+cluster://",
    "redis+sentinel://",
    "rediss+sentinel://",
)
_STORES = ("file:///", "s3://", "gs://", "az://")

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]


class SettingsError(Exception):
    """A setting is invalid. The message is one line for the operator."""


class ProcessSettings(BaseSettings):
    """Settings that service and worker share."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, extra="ignore")

    redis: str = Field(
        "redis://127.0.0.1:6379/0",
        description="redis://, rediss:// or unix:// URL of a server; redis+cluster://HOST:PORT,... "
        "of a Cluster; redis+sentinel://HOST:PORT,.../NAME of a master; rediss+... with TLS",
    )
    partitions: int = Field(
        1, ge=1, le=1024, description="number of partitions; fixed for the life of a deployment"
    )
    memory_mib: int = Field(
        DEFAULT_MEMORY_MIB,
        ge=256,
        description="memory that a worker process may use, in MiB; the service refuses sessions "
        "that would need more, and a worker ends a job that takes more",
    )
    dataset_store: str | None = Field(
        None,
        description="URL of a folder or object store for the rows of large datasets: file:///PATH, "
        "s3://BUCKET/PREFIX, gs://... or az://...; the same for service and workers",
    )
    metrics_listen: str = Field(
        "",
        description="address where Prometheus reads the metrics of the process, HOST:PORT (port 0 "
        "means any free port); whoever reaches it may read them, and they name nobody; empty for "
        "none",
    )
    metrics_targets: Path | None = Field(
        None,
        description="folder where the process leaves that address while it runs, in a file for "
        "Prometheus's file_sd_configs; for several processes of one machine",
    )
    otlp_endpoint: str = Field(
        "",
        description="http:// or https:// URL of an OpenTelemetry collector that takes OTLP over "
        "HTTP, without /v1/traces; empty for no traces",
    )
    log_format: LogFormat = Field(
        "json", description="format of the log on stderr: json or console"
    )
    log_level: LogLevel = Field("info", description="lowest level that is logged")

    @field_validator("redis")
    @classmethod
    def _redis_url(cls, value: str) -> str:
        if value.startswith(_OF_SEVERAL):
            return value
        if not value.startswith(_SCHEMES):
            raise ValueError(f"it must start with {', '.join((*_SCHEMES, *_OF_SEVERAL))}")
        try:
            _ = urlsplit(value).port
        except ValueError:
            raise ValueError(
                "its port must be a number; write special characters of a password as %XX"
            ) from None
        return value

    @field_validator("metrics_listen")
    @classmethod
    def _metrics_address(cls, value: str) -> str:
        if value and not is_host_and_port(value):
            raise ValueError("it must be HOST:PORT, or empty")
        return value

    @field_validator("otlp_endpoint")
    @classmethod
    def _collector_url(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("it must start with http:// or https://, or be empty")
        return value

    @field_validator("dataset_store")
    @classmethod
    def _store_url(cls, value: str | None) -> str | None:
        if value and not value.startswith(_STORES):
            raise ValueError(f"it must start with {', '.join(_STORES)}")
        return value or None


Settings = TypeVar("Settings", bound=ProcessSettings)


def read_settings(cls: type[Settings], arguments: Sequence[str], *, program: str) -> Settings:
    """Return the settings from command line and environment. Raises SettingsError."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=cls.__doc__,
        epilog=f"Each option can also be set in the environment, as {_PREFIX}OPTION.",
    )
    for name, field in cls.model_fields.items():
        kind: dict[str, Any] = {"metavar": name.upper()}
        if field.annotation is bool:
            kind = {"action": argparse.BooleanOptionalAction}
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            default=argparse.SUPPRESS,
            help=f"{field.description} (default: {field.default})",
            **kind,
        )
    given = vars(parser.parse_args(arguments))
    try:
        return cls(**given)
    except ValidationError as error:
        raise SettingsError(_line(error, given)) from error
    except UnicodeEncodeError as error:
        raise SettingsError("Settings: one of them is not UTF-8.") from error


def _line(error: ValidationError, given: dict[str, Any]) -> str:
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"Settings: {message}."
    name = str(first["loc"][0])
    option = f"--{name.replace('_', '-')}" if name in given else f"{_PREFIX}{name.upper()}"
    return redacted(f"{option} is {first['input']!r}: {message}.")
