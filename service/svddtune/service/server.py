"""The server: gRPC with health and reflection, HTTP beside it, and an orderly shutdown."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from svddtune.process.addresses import TAKEN, listen_fault
from svddtune.service.access.guard import Guarded
from svddtune.service.access.ownership import Ownership
from svddtune.service.access.providers import identities_of
from svddtune.service.background import lasting
from svddtune.service.conversation import StreamContext
from svddtune.service.dataset_servicer import DatasetServicer
from svddtune.service.decoding import Decoding
from svddtune.service.draining import Draining
from svddtune.service.health_servicer import HealthServicer
from svddtune.service.http.methods import Methods
from svddtune.service.labeling import Labeling
from svddtune.service.meters import Meters
from svddtune.service.models import Computing, Models
from svddtune.service.oracle_servicer import OracleServicer
from svddtune.service.quotas import Quotas
from svddtune.service.readiness import Readiness
from svddtune.service.reaper import Reaper
from svddtune.service.reflection import add_reflection
from svddtune.service.retention import Remover
from svddtune.service.scoring_servicer import ScoringServicer
from svddtune.service.server_servicer import ServerServicer
from svddtune.service.settings import Settings
from svddtune.service.shared import SharedSessions
from svddtune.service.tuning_servicer import TuningServicer
from svddtune.service.upload import Limits
from svddtune.state.connect import connect_async, connect_async_blocking
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import StoreUnavailable
from svddtune.state.memory import Watermark
from svddtune.state.migration import LayoutKeeper
from svddtune.state.models import ModelStore
from svddtune.state.notices import Notices
from svddtune.state.pictures import Pictures
from svddtune.state.projects import Owners
from svddtune.state.retention import Retention
from svddtune.state.retries import forget_connections
from svddtune.state.rows import RowStore
from svddtune.state.session import SessionId
from svddtune.state.store import SessionStore
from svddtune.state.uploads import UploadStore
from svddtune.state.usage import ProjectLimits
from svddtune.v1 import (
    dataset_pb2,
    dataset_pb2_grpc,
    oracle_pb2,
    oracle_pb2_grpc,
    scoring_pb2,
    scoring_pb2_grpc,
    server_pb2,
    server_pb2_grpc,
    tuning_pb2,
    tuning_pb2_grpc,
)
from svddtune.version import __version__

if TYPE_CHECKING:
    from svddtune.service.http.server import HttpServer

log = logging.getLogger(__name__)

# Time that open streams have to end by themselves, and then other calls.
DRAIN_S = 2.0
CALLS_END_S = 2.0
# Pause between looks for rows that broken uploads left in the dataset store.
_ORPHANS_EVERY_S = 3600.0
# Pause between signs of the service.
_SIGN_EVERY_S = 5.0

SERVICES = tuple(
    module.DESCRIPTOR.services_by_name[name].full_name
    for module, name in (
        (dataset_pb2, "DatasetService"),
        (tuning_pb2, "TuningService"),
        (oracle_pb2, "OracleService"),
        (scoring_pb2, "ScoringService"),
        (server_pb2, "ServerService"),
    )
)

# Further names of the health service: whether the process is alive, and whether it should be sent
# traffic.
LIVENESS, READINESS = "liveness", "readiness"

_OPTIONS: list[tuple[str, int]] = [
    # A second server on the same port is a mistake, not a replica.
    ("grpc.so_reuseport", 0),
    # Clients may ping every 10 s, also while no call is open.
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.keepalive_permit_without_calls", 1),
    # The connection of a machine that is gone is closed within 80 s.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
]


class AddressError(Exception):
    """The server cannot listen at its address."""


class Server:
    """The server of a service process; built, started and stopped on one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._commands = connect_async(settings.redis, min_replicas=settings.min_replicas)
        self._blocking = connect_async_blocking(settings.redis)
        self._notices = Notices(self._blocking, partitions=settings.partitions)
        self._layout = LayoutKeeper(
            self._commands,
            {"host": socket.gethostname(), "pid": os.getpid(), "version": __version__},
            partitions=settings.partitions,
        )
        self._draining = Draining()
        self._health = HealthServicer()
        self._readiness = Readiness(
            self._commands,
            is_connected=self._notices.connected.is_set,
            is_stopping=lambda: self._draining.begun,
            needs_workers=not settings.ready_without_workers,
        )
        self._server = grpc.aio.server(interceptors=[Decoding()], options=_OPTIONS)
        self._methods = Methods()
        self._identities = identities_of(settings)
        self._ownership = Ownership(
            Owners(self._commands, partitions=settings.partitions),
            kept_apart=self._identities.asked,
        )
        self._http: HttpServer | None = None
        self._background: list[asyncio.Task[None]] = []
        self._meters = self._make_meters()
        self._add_servicers()

    async def start(self) -> dict[str, str]:
        """Listen. Returns the addresses for clients by protocol; raises AddressError."""
        await self._set_health()
        addresses = {"address": self._listen()}
        if self._settings.http_listen:
            addresses["http"] = self._listen_for_http()
        if self._meters.address:
            addresses["metrics"] = self._meters.address
        self._background = [
            asyncio.create_task(lasting(name, run))
            for name, run in (
                ("Reading of notices", self._notices.run),
                ("Health checking", self._follow_redis),
                ("Readiness", partial(self._readiness.run, self._report_readiness)),
                ("Expiry of leases", self._reaper.run),
                ("Removal of orphaned rows", self._remove_orphans),
                ("Retention", self._remover.run),
                ("Keeping of the layout", self._keep_layout),
            )
        ]
        await self._server.start()
        if self._http:
            self._http.start()
        return addresses

    async def wait_until_serving(self) -> None:
        """Return once Redis has answered."""
        await self._notices.connected.wait()

    async def stop(self) -> None:
        """Report NOT_SERVING, let streams end, then stop the rest."""
        self._health.end(but=LIVENESS)
        self._notices.stop()
        await self._draining.drain(DRAIN_S)
        ending = [self._server.stop(CALLS_END_S)]
        if self._http:
            ending.append(self._http.stop())
        await asyncio.gather(*ending)
        self._computing.stop()
        reader, *others = self._background
        for task in others:
            task.cancel()
        await asyncio.gather(reader, *others, return_exceptions=True)
        with contextlib.suppress(StoreUnavailable):
            await self._layout.sign_out()
        await self._commands.aclose()
        await self._blocking.aclose()
        await asyncio.to_thread(self._meters.close)

    def _add_servicers(self) -> None:
        settings = self._settings
        project_limits = ProjectLimits(
            sessions=settings.max_project_sessions,
            datasets=settings.max_project_datasets,
            bytes=settings.max_project_mib << 20,
        )
        watermark = Watermark(self._commands, settings.memory_watermark)
        retention = Retention(
            session_ms=round(1000 * settings.session_retention_s),
            dataset_ms=round(1000 * settings.dataset_retention_s),
        )
        store = SessionStore(
            self._commands,
            partitions=settings.partitions,
            watermark=watermark,
            limits=project_limits,
            most_corrections=settings.max_row_corrections,
            kept_ms=retention.session_ms,
        )
        rows = RowStore(settings.dataset_store) if settings.dataset_store else None
        datasets = self._datasets = DatasetStore(
            self._commands,
            partitions=settings.partitions,
            rows=rows,
            most_in_redis=settings.redis_rows_mib << 20,
            watermark=watermark,
            limits=project_limits,
            kept_ms=retention.dataset_ms,
        )
        uploads = self._uploads = UploadStore(
            self._commands,
            partitions=settings.partitions,
            rows=rows,
            retention_s=settings.upload_retention_s,
        )
        pictures = Pictures(self._commands, partitions=settings.partitions)
        self._reaper = Reaper(store, self._notices)
        self._remover = Remover(
            self._commands,
            settings.partitions,
            retention,
            datasets.remove_rows,
        )
        quotas = Quotas.of(
            streams=settings.max_streams,
            uploads=settings.max_uploads,
            answers_per_s=settings.max_answers_per_s,
        )
        limits = Limits(settings.max_rows, settings.max_features, settings.max_bytes)
        self._add(
            dataset_pb2.DESCRIPTOR.services_by_name["DatasetService"],
            dataset_pb2_grpc.add_DatasetServiceServicer_to_server,
            DatasetServicer(
                datasets,
                uploads,
                limits,
                upload_timeout_s=settings.upload_timeout_s,
                quotas=quotas,
            ),
        )
        self._add(
            tuning_pb2.DESCRIPTOR.services_by_name["TuningService"],
            tuning_pb2_grpc.add_TuningServiceServicer_to_server,
            TuningServicer(
                store,
                datasets,
                pictures,
                self._notices,
                self._draining,
                worker_memory_bytes=settings.memory_mib << 20,
                quotas=quotas,
            ),
        )
        self._add(
            oracle_pb2.DESCRIPTOR.services_by_name["OracleService"],
            oracle_pb2_grpc.add_OracleServiceServicer_to_server,
            OracleServicer(
                StreamContext(
                    Labeling(store, datasets, self._ownership, self._meters),
                    SharedSessions(store),
                    self._notices,
                    self._draining,
                    settings.stream_s,
                    settings.hello_timeout_s,
                    settings.idle_timeout_s,
                    quotas,
                    self._meters,
                ),
                datasets,
                pictures,
            ),
        )
        self._computing = Computing()
        models = Models(
            store,
            ModelStore(self._commands, partitions=settings.partitions, watermark=watermark),
            self._computing,
            most_bytes=settings.max_model_mib << 20,
            cache_bytes=settings.model_cache_mib << 20,
        )
        self._add(
            scoring_pb2.DESCRIPTOR.services_by_name["ScoringService"],
            scoring_pb2_grpc.add_ScoringServiceServicer_to_server,
            ScoringServicer(
                models,
                datasets,
                self._computing,
                self._draining,
                upload_timeout_s=settings.upload_timeout_s,
                quotas=quotas,
            ),
        )
        self._add(
            server_pb2.DESCRIPTOR.services_by_name["ServerService"],
            server_pb2_grpc.add_ServerServiceServicer_to_server,
            ServerServicer(store, self._commands, settings, is_serving=self._is_serving),
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if settings.reflection:
            add_reflection(self._server, (*SERVICES, health.SERVICE_NAME))

    def _add(self, service: ServiceDescriptor, add: Callable[..., None], servicer: object) -> None:
        """Serve a servicer over gRPC, and over HTTP what its protos have rules for."""
        guarded = Guarded(servicer, service, self._identities, self._ownership)
        measured = self._meters.measured(guarded, service)
        add(measured, self._server)
        add(measured, self._methods)

    def _make_meters(self) -> Meters:
        settings = self._settings
        if not settings.metrics_listen:
            return Meters()
        # (A service without metrics starts without their library.)
        from svddtune.service.metrics import PrometheusMeters

        cert, key = settings.tls_cert, settings.tls_key
        try:
            return PrometheusMeters(
                settings.metrics_listen,
                settings.redis,
                settings.partitions,
                targets=settings.metrics_targets,
                tls=(cert, key) if cert and key else None,
            )
        except OSError as error:
            raise AddressError(listen_fault(settings.metrics_listen, error)) from error

    def _is_serving(self) -> bool:
        return self._notices.connected.is_set() and not self._draining.begun

    def _listen_for_http(self) -> str:
        # (A service without HTTP starts without a web framework.)
        from svddtune.service.http.server import HttpServer

        settings = self._settings
        cert, key = settings.tls_cert, settings.tls_key
        try:
            self._http = HttpServer(
                self._methods,
                lacks=self._readiness.lacks,
                hosts=settings.allowed_hosts,
                origins=settings.allowed_origins,
                tls=(cert, key) if cert and key else None,
                client_ca=settings.tls_client_ca,
                identities=self._identities,
                issuer=settings.issuer_origin,
                end_s=CALLS_END_S,
            )
            return self._http.listen(settings.http_listen)
        except OSError as error:
            raise AddressError(listen_fault(settings.http_listen, error)) from error

    def _listen(self) -> str:
        listen = self._settings.listen
        try:
            port = self._add_port(listen)
        except RuntimeError as error:
            raise AddressError(f"Cannot listen on {listen}: {self._likely_cause()}") from error
        if listen.startswith("unix:"):
            return listen
        return f"{listen.rpartition(':')[0]}:{port}"

    def _likely_cause(self) -> str:
        return (
            TAKEN
            if self._settings.tls_cert is None
            else f"do the certificate and the key belong together, or {TAKEN}"
        )

    def _add_port(self, listen: str) -> int:
        cert, key = self._settings.tls_cert, self._settings.tls_key
        if cert is None or key is None:
            return self._server.add_insecure_port(listen)
        client_ca = self._settings.tls_client_ca
        credentials: Any = grpc.ssl_server_credentials(
            [(key.read_bytes(), cert.read_bytes())],
            None if client_ca is None else client_ca.read_bytes(),
            client_ca is not None,
        )
        return self._server.add_secure_port(listen, credentials)

    async def _follow_redis(self) -> None:
        """Keep the health status equal to whether Redis is reachable and takes writes."""
        # This wakes up when Redis goes away and when it comes back.
        with self._notices.watching(SessionId("")) as changed:
            while True:
                await self._set_health()
                # When Redis is back, the same address may lead to another server: also connections
                # that were made while it was away are of no use.
                await forget_connections(self._commands.connection_pool)
                await changed.wait()
                changed.clear()

    async def _keep_layout(self) -> None:
        """Show that the service is there, and raise and follow the layout of the data."""
        while True:
            await self._notices.connected.wait()
            try:
                await self._layout.keep()
            except StoreUnavailable as error:
                log.warning("the layout stays as it is for now: %s", error.message)
            await asyncio.sleep(_SIGN_EVERY_S)

    async def _remove_orphans(self) -> None:
        """Remove what broken uploads left in the dataset store, now and then."""
        await self._notices.connected.wait()
        while True:
            try:
                removed = await self._datasets.remove_orphans()
                removed += await self._uploads.remove_expired()
                if removed:
                    log.info("rows of %d broken uploads removed", removed)
            except StoreUnavailable as error:
                log.warning("orphaned rows remain for now: %s", error.message)
            await asyncio.sleep(min(_ORPHANS_EVERY_S, self._settings.upload_retention_s))

    def _report_readiness(self, ready: bool) -> None:
        self._health.set(READINESS, _status(ready))

    async def _set_health(self) -> None:
        serving = self._notices.connected.is_set()
        for name in (health.OVERALL_HEALTH, *SERVICES):
            self._health.set(name, _status(serving))
        self._health.set(LIVENESS, _status(True))
        self._report_readiness(not self._readiness.lacks())


def _status(serving: bool) -> int:
    statuses = health_pb2.HealthCheckResponse
    return int(statuses.SERVING if serving else statuses.NOT_SERVING)
