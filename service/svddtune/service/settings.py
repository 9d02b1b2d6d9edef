"""Settings of the service process."""

import ipaddress
from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator

from svddtune.process.settings import ProcessSettings


class Settings(ProcessSettings):
    """The svddtune gRPC service."""

    listen: str = Field(
        "127.0.0.1:50051",
        description="address to listen on: HOST:PORT (port 0 means any free port) or unix:PATH",
    )
    tls_cert: Path | None = Field(None, description="PEM file with the server's certificate chain")
    tls_key: Path | None = Field(None, description="PEM file with its private key")
    insecure: bool = Field(False, description="allow addresses other than loopback without TLS")
    max_rows: int = Field(
        2_000_000, ge=2, description="largest number of observations of a dataset"
    )
    max_features: int = Field(10_000, ge=1, description="largest number of features of a dataset")
    max_bytes: int = Field(2 << 30, ge=16, description="largest size of a dataset, in bytes")
    redis_rows_mib: int = Field(
        64,
        ge=0,
        description="size in MiB above which rows go to the dataset store, if there is one",
    )
    stream_s: float = Field(
        3600.0,
        ge=1.0,
        le=86_400.0,
        description="age in seconds at which a labeler's stream must reconnect",
    )
    hello_timeout_s: float = Field(
        30.0, gt=0.0, le=3600.0, description="seconds in which a labeler's stream must say Hello"
    )
    upload_timeout_s: float = Field(
        30.0, gt=0.0, le=3600.0, description="seconds in which an upload must send its next message"
    )
    upload_retention_s: float = Field(
        3600.0,
        ge=60.0,
        le=604_800.0,
        description="seconds for which an upload that broke off can be resumed",
    )
    reflection: bool = Field(True, description="let clients list the services (gRPC reflection)")

    @field_validator("listen")
    @classmethod
    def _address(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if not value.startswith("unix:") and not (
            host and port.isascii() and port.isdigit() and int(port) <= 65535
        ):
            raise ValueError("it must be HOST:PORT or unix:PATH")
        return value

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key go together: give both or none")
        for path in (self.tls_cert, self.tls_key):
            if path is not None and not path.is_file():
                raise ValueError(f"file {path} does not exist")
        if self.exposed and not self.insecure:
            raise ValueError(
                f"{self.listen} is not a loopback address: give --tls-cert and --tls-key, or "
                "--insecure if everybody who can reach it may read and write"
            )
        return self

    @property
    def exposed(self) -> bool:
        """Whether other machines can reach the service without encryption."""
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
