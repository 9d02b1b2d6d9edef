"""The standard health service: every watcher is sent each change, even after others have left.

(grpcio's own servicer forgets the watchers of a service when the first of them leaves.)
"""

import asyncio

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from svddtune.service.status import Context

_Response = health_pb2.HealthCheckResponse


class HealthServicer(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """The status of each service; one that was never set is unknown."""

    def __init__(self) -> None:
        self._statuses: dict[str, int] = {}
        self._watchers: set[asyncio.Event] = set()
        self._ending = False

    def set(self, service: str, status: int) -> None:
        """Set the status of a service; "" is the whole server. Ignored after ``end``."""
        if not self._ending and self._statuses.get(service) != status:
            self._statuses[service] = status
            for changed in self._watchers:
                changed.set()

    def end(self, *, but: str) -> None:
        """Set all services but one to NOT_SERVING for good."""
        for service in self._statuses.keys() - {but}:
            self.set(service, _Response.NOT_SERVING)
        self._ending = True

    async def Check(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        """Return the status of a service."""
        status = self._statuses.get(request.service)
        if status is None:
            await context.abort(
                grpc.StatusCode.NOT_FOUND, "This server does not have the service asked for."
            )
        return _Response(status=status)

    async def Watch(self, request: health_pb2.HealthCheckRequest, context: Context) -> None:
        """Send the status of a service, and again after each change."""
        changed, sent = asyncio.Event(), None
        self._watchers.add(changed)
        try:
            while True:
                changed.clear()
                status = self._statuses.get(request.service, _Response.SERVICE_UNKNOWN)
                if status != sent:
                    sent = status
                    await context.write(_Response(status=status))
                await changed.wait()
        finally:
            self._watchers.discard(changed)
