"""Settings of the service process."""

import re
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from svddtune.process.addresses import is_host_and_port, is_loopback
from svddtune.process.settings import ProcessSettings

# Names of this machine in URLs.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class Settings(ProcessSettings):
    """The svddtune gRPC service."""

    listen: str = Field(
        "127.0.0.1:50051",
        description="address to listen on: HOST:PORT (port 0 means any free port) or unix:PATH",
    )
    http_listen: str = Field(
        "",
        description="address for the calls as JSON over HTTP, HOST:PORT (port 0 means any free "
        "port); empty for none",
    )
    http_origins: str = Field(
        "",
        description="origins whose web pages may call over HTTP (CORS), with commas between them, "
        "as https://example.com; * for any",
    )
    http_hosts: str = Field(
        "",
        description="host names under which HTTP is reached, with commas between them; empty for "
        "any, but on a loopback address for those of this machine alone",
    )
    tls_cert: Path | None = Field(None, description="PEM file with the server's certificate chain")
    tls_key: Path | None = Field(None, description="PEM file with its private key")
    tls_client_ca: Path | None = Field(
        None,
        description="PEM file with the authorities of client certificates, which tell who calls: "
        "CN is the name, O the project, OU the role; gRPC then takes no client without one",
    )
    tokens: Path | None = Field(
        None,
        description="file of bearer tokens, which `svddtune token` writes; they tell who calls",
    )
    insecure: bool = Field(
        False,
        description="allow addresses other than loopback without TLS or without identity provider",
    )
    jwt_issuer: str = Field(
        "", description="issuer (iss) of JSON Web Tokens that tell who calls; empty for none"
    )
    jwt_audience: str = Field("", description="audience (aud) that those tokens must be for")
    jwt_jwks: str = Field(
        "", description="URL (https://) or path of the JWKS with the issuer's public keys"
    )
    jwt_client_id: str = Field(
        "",
        description="public client of the console at that issuer, where people then sign in; empty "
        "if they show tokens that somebody gave them",
    )
    jwt_scopes: str = Field("openid", description="scopes that the console asks for, with spaces")
    jwt_name_claim: str = Field("sub", description="claim of those tokens with the caller's name")
    jwt_project_claim: str = Field(
        "svddtune_project", description="claim with the project; a dot goes into an object"
    )
    jwt_role_claim: str = Field(
        "svddtune_role", description="claim with the role, or with a list of roles"
    )
    identity_provider: str = Field(
        "",
        description="name of a provider of an installed package that tells who calls (entry points "
        "svddtune.identity_providers)",
    )
    min_replicas: int = Field(
        0,
        ge=0,
        le=16,
        description="number of Redis's replicas that must have a change before it is acknowledged; "
        "with 0, acknowledged labels can be lost when a replica takes over",
    )
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
    max_project_sessions: int = Field(
        0, ge=0, description="sessions that a project may have; 0 for any number"
    )
    max_project_datasets: int = Field(
        0, ge=0, description="datasets that a project may have; 0 for any number"
    )
    max_project_mib: int = Field(
        0, ge=0, description="MiB of rows that a project's datasets may have together; 0 for any"
    )
    max_row_corrections: int = Field(
        0,
        ge=0,
        description="corrections, retractions and late answers of all labelers together on one "
        "observation; 0 for any number",
    )
    memory_watermark: float = Field(
        0.85,
        ge=0.0,
        le=1.0,
        description="share of Redis's maxmemory above which no new datasets, sessions and models "
        "are taken, so that labels still are; 0 for none",
    )
    idle_timeout_s: float = Field(
        0.0,
        ge=0.0,
        le=86_400.0,
        description="seconds after which a labeler's stream whose client sends nothing must "
        "reconnect; 0 for never",
    )
    max_streams: int = Field(
        0, ge=0, description="streams that one client may have open at this process; 0 for any"
    )
    max_uploads: int = Field(
        0, ge=0, description="uploads that one client may have open at this process; 0 for any"
    )
    max_answers_per_s: float = Field(
        0.0, ge=0.0, description="answers a second that this process takes of one client; 0 for any"
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
    session_retention_s: float = Field(
        0.0,
        ge=0.0,
        le=315_360_000.0,
        description="seconds after its end at which a session is deleted; 0 for never",
    )
    dataset_retention_s: float = Field(
        0.0,
        ge=0.0,
        le=315_360_000.0,
        description="seconds after its last use at which a dataset is deleted that no session "
        "uses; 0 for never",
    )
    max_model_mib: int = Field(
        64, ge=1, le=512, description="largest size of an uploaded model file, in MiB"
    )
    model_cache_mib: int = Field(
        256,
        ge=0,
        description="memory for models that rows are judged by, in MiB; others are read again",
    )
    ready_without_workers: bool = Field(
        False, description="be ready for traffic (/readyz) also while no worker is there"
    )
    reflection: bool = Field(True, description="let clients list the services (gRPC reflection)")

    @field_validator("listen")
    @classmethod
    def _address(cls, value: str) -> str:
        if not value.startswith("unix:") and not is_host_and_port(value):
            raise ValueError("it must be HOST:PORT or unix:PATH")
        return value

    @field_validator("http_listen")
    @classmethod
    def _http_address(cls, value: str) -> str:
        if value and not is_host_and_port(value):
            raise ValueError("it must be HOST:PORT, or empty")
        return value

    @field_validator("jwt_jwks")
    @classmethod
    def _jwks(cls, value: str) -> str:
        url = urlsplit(value)
        if "://" in value and not (
            url.scheme == "https" or (url.scheme == "http" and url.hostname in LOOPBACK_NAMES)
        ):
            raise ValueError("it must be an https:// URL or a path")
        if url.username or url.password:
            raise ValueError("its URL must have no user and no password")
        return value

    @field_validator("http_origins")
    @classmethod
    def _origins(cls, value: str) -> str:
        for one in _listed(value):
            if one != "*" and not re.fullmatch(r"null|[a-z][a-z0-9+.-]*://[^/]+", one):
                raise ValueError(f"{one} is no origin, as https://example.com or *")
        return value

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key go together: give both or none")
        if self.tls_client_ca and not self.tls_cert:
            raise ValueError("--tls-client-ca needs --tls-cert and --tls-key")
        jwt = (self.jwt_issuer, self.jwt_audience, self.jwt_jwks)
        if any(jwt) and not all(jwt):
            raise ValueError("--jwt-issuer, --jwt-audience and --jwt-jwks go together")
        if self.jwt_client_id and not _is_issuer_url(self.jwt_issuer):
            raise ValueError(
                "--jwt-client-id needs a --jwt-issuer that is an https:// URL, where the console "
                "finds /.well-known/openid-configuration"
            )
        for path in (self.tls_cert, self.tls_key, self.tls_client_ca, self.tokens):
            if path is not None and not path.is_file():
                raise ValueError(f"file {path} does not exist")
        if self.exposed and not self.insecure:
            raise ValueError(
                f"{', '.join(self.exposed)} is not a loopback address, and there is no "
                f"{' and no '.join(self.unprotected)}: give --tls-cert and --tls-key, and --tokens "
                "or another identity provider, or --insecure if everybody who can reach it may "
                "read and write"
            )
        return self

    @property
    def unprotected(self) -> list[str]:
        """What there is not: encryption, or a question who calls."""
        asked = (self.tokens, self.jwt_issuer, self.tls_client_ca, self.identity_provider)
        missing = [] if self.tls_cert else ["encryption"]
        return missing if any(asked) else [*missing, "identity provider"]

    @property
    def exposed(self) -> list[str]:
        """The addresses at which other machines can reach the service, and not all is protected."""
        if not self.unprotected:
            return []
        # (Metrics are shown by their own setting alone, and name nobody.)
        listening = (self.listen, self.http_listen)
        return [one for one in listening if one and not is_loopback(one)]

    @property
    def issuer_origin(self) -> str:
        """Where people sign in to the console; empty if they do not."""
        if not self.jwt_client_id:
            return ""
        url = urlsplit(self.jwt_issuer)
        return f"{url.scheme}://{url.netloc}"

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """The origins whose web pages may call over HTTP."""
        return _listed(self.http_origins)

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The host names under which HTTP is reached, in lower case; none for any."""
        if self.http_hosts:
            return _listed(self.http_hosts.lower())
        return LOOPBACK_NAMES if is_loopback(self.http_listen) else ()


def _is_issuer_url(text: str) -> bool:
    # (Its origin becomes part of a header.)
    url = urlsplit(text)
    secure = url.scheme == "https" or (url.scheme == "http" and url.hostname in LOOPBACK_NAMES)
    return secure and re.fullmatch(r"[A-Za-z0-9.:\[\]-]+", url.netloc) is not None


def _listed(value: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in value.split(",") if one.strip())
