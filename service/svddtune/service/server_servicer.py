"""ServerService: what a server is, whether it can serve, and what its workers do."""

from collections.abc import Callable

from svddtune.service import convert, validate
from svddtune.service.access.caller import Caller, Role, current
from svddtune.service.dialogue import PROTOCOL_VERSION
from svddtune.service.settings import Settings
from svddtune.service.status import Context, rpc, unbroken, undisturbed
from svddtune.state.calls import AsyncScripts
from svddtune.state.connect import AsyncRedis
from svddtune.state.durability import read_durability
from svddtune.state.errors import StoreUnavailable
from svddtune.state.figures import read_load
from svddtune.state.store import SessionStore
from svddtune.v1 import server_pb2, server_pb2_grpc
from svddtune.version import __version__

_ROLES = {
    Role.VIEWER: server_pb2.CALLER_ROLE_VIEWER,
    Role.LABELER: server_pb2.CALLER_ROLE_LABELER,
    Role.TUNER: server_pb2.CALLER_ROLE_TUNER,
    Role.ADMIN: server_pb2.CALLER_ROLE_ADMIN,
}


class ServerServicer(server_pb2_grpc.ServerServiceServicer):
    """Describes the server; it answers without the store, too."""

    def __init__(
        self,
        store: SessionStore,
        client: AsyncRedis,
        settings: Settings,
        *,
        is_serving: Callable[[], bool],
    ) -> None:
        self._store = store
        self._client = client
        self._call = AsyncScripts(client)
        self._settings = settings
        self._is_serving = is_serving

    @rpc
    async def GetServerInfo(
        self, request: server_pb2.GetServerInfoRequest, context: Context
    ) -> server_pb2.GetServerInfoResponse:
        """Describe the server."""
        settings = self._settings
        features = [server_pb2.FEATURE_RESUMABLE_UPLOADS, server_pb2.FEATURE_ANSWER_BATCH]
        if settings.dataset_store:
            features.append(server_pb2.FEATURE_DATASET_STORE)
        return server_pb2.GetServerInfoResponse(
            version=__version__,
            min_protocol_version=PROTOCOL_VERSION,
            max_protocol_version=PROTOCOL_VERSION,
            features=features,
            limits=server_pb2.ServerLimits(
                message_bytes=validate.LARGEST_MESSAGE,
                observation_count=settings.max_rows,
                feature_count=settings.max_features,
                sessions_per_stream=validate.MOST_SESSIONS,
                credit=validate.MOST_CREDIT,
                answers_per_batch=validate.LARGEST_BATCH,
                hello_seconds=settings.hello_timeout_s,
                stream_seconds=settings.stream_s,
                wait_seconds=validate.LONGEST_WAIT_S,
            ),
            readiness=await self._readiness(),
            caller=_caller_to_proto(current()),
            durability=await self._durability(),
            sign_in=_sign_in_to_proto(settings),
        )

    @rpc
    @undisturbed
    async def GetLoad(
        self, request: server_pb2.GetLoadRequest, context: Context
    ) -> server_pb2.GetLoadResponse:
        """Who computes, and what waits."""
        load = await read_load(self._call, self._store.partitions)
        return server_pb2.GetLoadResponse(
            workers=[
                server_pb2.WorkerLoad(
                    name=one.name,
                    last_seen=convert.timestamp(one.seen_ms),
                    job=one.job,
                    memory_bytes=one.memory_bytes,
                )
                for one in load.workers
            ],
            urgent_jobs=load.lanes["hi"].queued,
            bulk_jobs=load.lanes["bulk"].queued,
            running_jobs=sum(lane.running for lane in load.lanes.values()),
            given_up_jobs=load.dead,
        )

    async def _durability(self) -> server_pb2.ServerDurability | None:
        if not self._is_serving():
            return None
        try:
            found = await unbroken(read_durability(self._client, self._settings.min_replicas))
        except StoreUnavailable:
            return None
        return server_pb2.ServerDurability(
            survives_crash=found.survives_crash,
            survives_failover=found.survives_failover,
            replica_count=found.replicas,
            min_replicas=found.min_replicas,
            message="; ".join(found.sentences),
        )

    async def _readiness(self) -> server_pb2.ServerReadiness:
        if not self._is_serving():
            return server_pb2.ServerReadiness(
                message="The service has no connection to its store, or it is stopping."
            )
        try:
            workers = await unbroken(self._store.worker_count())
        except StoreUnavailable as error:
            return server_pb2.ServerReadiness(message=error.message)
        return server_pb2.ServerReadiness(ready=True, worker_count=workers)


def _sign_in_to_proto(settings: Settings) -> server_pb2.SignIn | None:
    if not settings.jwt_client_id:
        return None
    return server_pb2.SignIn(
        issuer=settings.jwt_issuer,
        client_id=settings.jwt_client_id,
        scopes=settings.jwt_scopes.split(),
    )


def _caller_to_proto(caller: Caller) -> server_pb2.ServerCaller | None:
    if not caller.known:
        return None
    return server_pb2.ServerCaller(
        name=caller.name, project=caller.project, role=_ROLES[caller.role]
    )
