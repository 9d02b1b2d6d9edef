"""OracleService: the stream and the unary calls, both on ``Labeling``."""

from collections.abc import AsyncIterator

from svddtune.service import names, pictures, validate
from svddtune.service.commands import Item
from svddtune.service.conversation import Conversation, StreamContext
from svddtune.service.convert import fitting
from svddtune.service.lease_call import LeaseCall
from svddtune.service.quotas import client_of
from svddtune.service.stalls import stall
from svddtune.service.status import Context, rpc, unbroken, undisturbed
from svddtune.service.views import seen_session
from svddtune.state.datasets import DatasetStore
from svddtune.state.pictures import Pictures
from svddtune.state.session import LeaseRequest
from svddtune.v1 import oracle_pb2, oracle_pb2_grpc


class OracleServicer(oracle_pb2_grpc.OracleServiceServicer):
    """Where labelers get queries and leave answers."""

    def __init__(self, context: StreamContext, datasets: DatasetStore, pictures: Pictures) -> None:
        self._context = context
        self._labeling = context.labeling
        self._datasets = datasets
        self._pictures = pictures

    @rpc
    async def Converse(
        self, request_iterator: AsyncIterator[oracle_pb2.ConverseRequest], context: Context
    ) -> None:
        """The dialogue."""
        await Conversation(self._context, context, client_of(context)).run(request_iterator)

    @rpc
    async def Lease(
        self, request: oracle_pb2.LeaseRequest, context: Context
    ) -> oracle_pb2.LeaseResponse:
        """Lease queries; wait for the first one."""
        labeler = validate.labeler(request.labeler)
        lease_request = LeaseRequest(
            _holder(labeler),
            labeler,
            validate.in_range("max_queries", request.max_queries or 1, 1, validate.MOST_CREDIT),
            validate.is_automated(request.kind),
            # A call may end while it waits, and its lease would be lost: it is notified instead.
            notify_only=True,
            tags=validate.tags(request.tags),
        )
        wait_s = validate.in_range(
            "wait_seconds", request.wait_seconds, 0.0, validate.LONGEST_WAIT_S
        )
        named = names.session_id(request.session, "session") if request.session else None
        call = LeaseCall(self._context, lease_request, named, wait_s)
        response = oracle_pb2.LeaseResponse(
            # What is left out comes with the next call.
            assignments=fitting(await call.run()),
            finish_reason=call.finish_reason,
        )
        if named:
            session = await unbroken(self._labeling.session(named))
            response.session.CopyFrom(seen_session(session))
            if not response.assignments:
                attended = await unbroken(self._labeling.attended(named))
                response.session.stall = stall(response.session, attended=attended, asked=True)
        return response

    @rpc
    @undisturbed
    async def Answer(
        self, request: oracle_pb2.AnswerRequest, context: Context
    ) -> oracle_pb2.AnswerResponse:
        """Store one answer."""
        self._context.quotas.answers.take(client_of(context))
        ack = await self._apply(request.labeler, request.answer, "answer")
        return oracle_pb2.AnswerResponse(ack=ack)

    @rpc
    @undisturbed
    async def AnswerBatch(
        self, request: oracle_pb2.AnswerBatchRequest, context: Context
    ) -> oracle_pb2.AnswerBatchResponse:
        """Store many unasked answers."""
        labeler = validate.labeler(request.labeler)
        validate.in_range("len(answers)", len(request.answers), 1, validate.LARGEST_BATCH)
        self._context.quotas.answers.take(client_of(context), len(request.answers))
        return await self._labeling.answer_batch(
            names.session_id(request.session, "session"),
            labeler,
            _holder(labeler),
            request.answers,
            more=request.more,
        )

    @rpc
    @undisturbed
    async def Extend(
        self, request: oracle_pb2.ExtendRequest, context: Context
    ) -> oracle_pb2.ExtendResponse:
        """Extend leases."""
        ack = await self._apply(request.labeler, request.extend, "extend")
        return oracle_pb2.ExtendResponse(ack=ack)

    @rpc
    @undisturbed
    async def Release(
        self, request: oracle_pb2.ReleaseRequest, context: Context
    ) -> oracle_pb2.ReleaseResponse:
        """Release leases."""
        ack = await self._apply(request.labeler, request.release, "release")
        return oracle_pb2.ReleaseResponse(ack=ack)

    @rpc
    @undisturbed
    async def Skip(
        self, request: oracle_pb2.SkipRequest, context: Context
    ) -> oracle_pb2.SkipResponse:
        """Pass on a query."""
        ack = await self._apply(request.labeler, request.skip, "skip")
        return oracle_pb2.SkipResponse(ack=ack)

    @rpc
    @undisturbed
    async def Retract(
        self, request: oracle_pb2.RetractRequest, context: Context
    ) -> oracle_pb2.RetractResponse:
        """Withdraw a vote."""
        ack = await self._apply(request.labeler, request.retract, "retract")
        return oracle_pb2.RetractResponse(ack=ack)

    @rpc
    @undisturbed
    async def GetProfile(
        self, request: oracle_pb2.GetProfileRequest, context: Context
    ) -> oracle_pb2.GetProfileResponse:
        """What the features are like that labelers see."""
        validate.labeler(request.labeler)
        session = await self._labeling.session(names.session_id(request.session, "session"))
        return await pictures.profile(self._pictures, self._datasets, session)

    async def _apply(self, labeler: str, item: Item, field: str) -> oracle_pb2.Ack:
        holder = _holder(validate.labeler(labeler))
        session_id = names.session_id(item.session, f"{field}.session")
        return await self._labeling.apply(session_id, labeler, holder, item)


def _holder(labeler: str) -> str:
    """Owner of the leases of all unary calls of a labeler."""
    return f"{labeler}/"
