"""The gRPC server: servicers, health, reflection, and an orderly shutdown."""

import asyncio
import logging
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from svddtune.service.background import lasting
from svddtune.service.conversation import StreamContext
from svddtune.service.dataset_servicer import DatasetServicer
from svddtune.service.decoding import Decoding
from svddtune.service.draining import Draining
from svddtune.service.health_servicer import HealthServicer
from svddtune.service.labeling import Labeling
from svddtune.service.oracle_servicer import OracleServicer
from svddtune.service.reaper import Reaper
from svddtune.service.settings import Settings
from svddtune.service.shared import SharedSessions
from svddtune.service.tuning_servicer import TuningServicer
from svddtune.service.upload import Limits
from svddtune.state.connect import connect_async, connect_async_blocking
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import StoreUnavailable
from svddtune.state.notices import Notices
from svddtune.state.retries import forget_connections
from svddtune.state.rows import RowStore
from svddtune.state.session import SessionId
from svddtune.state.store import SessionStore
from svddtune.state.uploads import UploadStore
from svddtune.v1 import (
    dataset_pb2,
    dataset_pb2_grpc,
    oracle_pb2,
    oracle_pb2_grpc,
    tuning_pb2,
    tuning_pb2_grpc,
)

log = logging.getLogger(__name__)

# Time that open streams have to end by themselves, and then other calls.
DRAIN_S = 2.0
CALLS_END_S = 2.0
# Pause between looks for rows that broken uploads left in the dataset store.
_ORPHANS_EVERY_S = 3600.0

SERVICES = tuple(
    module.DESCRIPTOR.services_by_name[name].full_name
    for module, name in (
        (dataset_pb2, "DatasetService"),
        (tuning_pb2, "TuningService"),
        (oracle_pb2, "OracleService"),
    )
)

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
        self._commands = connect_async(settings.redis)
        self._blocking = connect_async_blocking(settings.redis)
        self._notices = Notices(self._blocking, partitions=settings.partitions)
        self._draining = Draining()
        self._health = HealthServicer()
        self._server = grpc.aio.server(interceptors=[Decoding()], options=_OPTIONS)
        self._background: list[asyncio.Task[None]] = []
        self._add_servicers()

    async def start(self) -> str:
        """Listen. Returns the address for clients; raises AddressError."""
        await self._set_health()
        address = self._listen()
        self._background = [
            asyncio.create_task(lasting(name, run))
            for name, run in (
                ("Reading of notices", self._notices.run),
                ("Health checking", self._follow_redis),
                ("Expiry of leases", self._reaper.run),
                ("Removal of orphaned rows", self._remove_orphans),
            )
        ]
        await self._server.start()
        return address

    async def wait_until_serving(self) -> None:
        """Return once Redis has answered."""
        await self._notices.connected.wait()

    async def stop(self) -> None:
        """Report NOT_SERVING, let streams end, then stop the rest."""
        self._health.end()
        self._notices.stop()
        await self._draining.drain(DRAIN_S)
        await self._server.stop(CALLS_END_S)
        reader, *others = self._background
        for task in others:
            task.cancel()
        await asyncio.gather(reader, *others, return_exceptions=True)
        await self._commands.aclose()
        await self._blocking.aclose()

    def _add_servicers(self) -> None:
        settings, server = self._settings, self._server
        store = SessionStore(self._commands, partitions=settings.partitions)
        rows = RowStore(settings.dataset_store) if settings.dataset_store else None
        datasets = self._datasets = DatasetStore(
            self._commands,
            partitions=settings.partitions,
            rows=rows,
            most_in_redis=settings.redis_rows_mib << 20,
        )
        uploads = self._uploads = UploadStore(
            self._commands,
            partitions=settings.partitions,
            rows=rows,
            retention_s=settings.upload_retention_s,
        )
        self._reaper = Reaper(store, self._notices)
        limits = Limits(settings.max_rows, settings.max_features, settings.max_bytes)
        dataset_pb2_grpc.add_DatasetServiceServicer_to_server(
            DatasetServicer(datasets, uploads, limits, upload_timeout_s=settings.upload_timeout_s),
            server,
        )
        tuning_pb2_grpc.add_TuningServiceServicer_to_server(
            TuningServicer(
                store,
                datasets,
                self._notices,
                self._draining,
                worker_memory_bytes=settings.memory_mib << 20,
            ),
            server,
        )
        oracle_pb2_grpc.add_OracleServiceServicer_to_server(
            OracleServicer(
                StreamContext(
                    Labeling(store, datasets),
                    SharedSessions(store),
                    self._notices,
                    self._draining,
                    settings.stream_s,
                    settings.hello_timeout_s,
                )
            ),
            server,
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        if settings.reflection:
            names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, server)

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
        taken = "is another server using it?"
        return (
            taken
            if self._settings.tls_cert is None
            else f"do the certificate and the key belong together, or {taken}"
        )

    def _add_port(self, listen: str) -> int:
        cert, key = self._settings.tls_cert, self._settings.tls_key
        if cert is None or key is None:
            return self._server.add_insecure_port(listen)
        credentials: Any = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
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

    async def _set_health(self) -> None:
        serving = self._notices.connected.is_set()
        statuses = health_pb2.HealthCheckResponse
        for name in (health.OVERALL_HEALTH, *SERVICES):
            self._health.set(name, statuses.SERVING if serving else statuses.NOT_SERVING)
