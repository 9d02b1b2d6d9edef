"""The standard health service: all who watch hear of each change, whoever else leaves.

(grpcio's own servicer forgets the watchers of a service when the first of them leaves.)
"""

import asyncio

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from svddtune.service.status import Context

_Response = health_pb2.HealthCheckResponse


class HealthServicer(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """Whether services serve. One that was never set is unknown."""

    def __init__(self) -> None:
        self._statuses: dict[str, int] = {}
        self._watchers: set[asyncio.Event] = set()
        self._ending = False

    def set(self, service: str, status: int) -> None:
        """Say how a service is; "" is the whole server. Ignored once ``end`` was called."""
        if not self._ending and self._statuses.get(service) != status:
            self._statuses[service] = status
            for changed in self._watchers:
                changed.set()

    def end(self) -> None:
        """Nothing serves any more."""
        for service in self._statuses:
            self.set(service, _Response.NOT_SERVING)
        self._ending = True

    async def Check(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        """Tell how a service is."""
        status = self._statuses.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "There is no such service.")
        return _Response(status=status)

    async def Watch(self, request: health_pb2.HealthCheckRequest, context: Context) -> None:
        """Tell how a service is, and again at each change."""
        changed, told = asyncio.Event(), None
        self._watchers.add(changed)
        try:
            while True:
                changed.clear()
                status = self._statuses.get(request.service, _Response.SERVICE_UNKNOWN)
                if status != told:
                    told = status
                    await context.write(_Response(status=status))
                await changed.wait()
        finally:
            self._watchers.discard(changed)
