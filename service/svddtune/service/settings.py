"""Settings of the service: command line before ``SVDDTUNE_*`` before default."""

import argparse
import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_PREFIX = "SVDDTUNE_"
_SCHEMES = ("redis://", "rediss://", "unix://")


class SettingsError(Exception):
    """A setting is wrong; the message is one line for the operator."""


class Settings(BaseSettings):
    """What the service is told when it starts."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, extra="ignore")

    listen: str = Field("127.0.0.1:50051", description="HOST:PORT (port 0: any) or unix:PATH")
    redis: str = Field("redis://127.0.0.1:6379/0", description="redis://, rediss:// or unix:// URL")
    tls_cert: Path | None = Field(None, description="PEM file with the server's certificate chain")
    tls_key: Path | None = Field(None, description="PEM file with its private key")
    insecure: bool = Field(False, description="other than loopback addresses without TLS")
    partitions: int = Field(1, ge=1, le=1024, description="fixed for the life of a deployment")
    max_rows: int = Field(2_000_000, ge=2, description="observations of one dataset")
    max_features: int = Field(10_000, ge=1, description="features of one dataset")
    max_bytes: int = Field(2 << 30, ge=16, description="size of one dataset")
    reflection: bool = Field(True, description="let clients ask which services there are")
    log_format: Literal["json", "console"] = Field("json", description="of the log on stderr")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="least")

    @field_validator("redis")
    @classmethod
    def _redis_url(cls, value: str) -> str:
        if not value.startswith(_SCHEMES):
            raise ValueError(f"must start with {', '.join(_SCHEMES)}")
        return value

    @field_validator("listen")
    @classmethod
    def _address(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if not value.startswith("unix:") and not (
            host and port.isascii() and port.isdigit() and int(port) <= 65535
        ):
            raise ValueError("must be HOST:PORT or unix:PATH")
        return value

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together: give both or none")
        for path in (self.tls_cert, self.tls_key):
            if path is not None and not path.is_file():
                raise ValueError(f"there is no file {path}")
        if self.exposed and not self.insecure:
            raise ValueError(
                f"{self.listen} is not a loopback address: give tls_cert and tls_key, or insecure "
                "if everybody who can reach it may read and write"
            )
        return self

    @property
    def exposed(self) -> bool:
        """Whether others than this machine can reach it unencrypted."""
        return self.tls_cert is None and not _is_loopback(self.listen)


def _is_loopback(listen: str) -> bool:
    if listen.startswith("unix:"):
        return True
    host = listen.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_settings(arguments: Sequence[str]) -> Settings:
    """Settings from the command line and the environment. Raises SettingsError."""
    parser = argparse.ArgumentParser(
        prog="python -m svddtune.service",
        description="The svddtune gRPC service.",
        epilog=f"Each option may be set as {_PREFIX}OPTION in the environment too.",
    )
    for name, field in Settings.model_fields.items():
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
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(_line(error, given)) from error


def _line(error: ValidationError, given: dict[str, Any]) -> str:
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"Settings: {message}."
    name = str(first["loc"][0])
    option = f"--{name.replace('_', '-')}" if name in given else f"{_PREFIX}{name.upper()}"
    return f"{option} is {first['input']!r}: {message}."
