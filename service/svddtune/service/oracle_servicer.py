"""OracleService: the stream and its unary twins, both on ``Labeling``."""

from collections.abc import AsyncIterator

from svddtune.service import names, validate
from svddtune.service.conversation import Conversation, StreamContext
from svddtune.service.convert import fitting, session_to_proto
from svddtune.service.lease_call import LeaseCall
from svddtune.service.status import Context, rpc, unbroken, undisturbed
from svddtune.state.session import LeaseRequest, SessionId
from svddtune.v1 import oracle_pb2, oracle_pb2_grpc


class OracleServicer(oracle_pb2_grpc.OracleServiceServicer):
    """Where labelers get queries and leave answers."""

    def __init__(self, context: StreamContext) -> None:
        self._context = context
        self._labeling = context.labeling

    @rpc
    async def Converse(
        self, request_iterator: AsyncIterator[oracle_pb2.ConverseRequest], context: Context
    ) -> None:
        """The dialogue."""
        await Conversation(self._context, context).run(request_iterator)

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
            # A call that has ended can take nothing: while it waits it is told, and then leases.
            notify_only=True,
        )
        wait_s = validate.in_range("wait_s", request.wait_s, 0.0, validate.LONGEST_WAIT_S)
        named = names.session_id(request.session, "session") if request.session else None
        call = LeaseCall(self._context, lease_request, named, wait_s)
        response = oracle_pb2.LeaseResponse(
            # What is left out comes with the next call.
            assignments=fitting(await call.run()),
            finished_reason=call.finished_reason,
        )
        if named:
            session = await unbroken(self._labeling.session(named))
            response.session.CopyFrom(session_to_proto(session))
        return response

    @rpc
    @undisturbed
    async def Answer(
        self, request: oracle_pb2.AnswerRequest, context: Context
    ) -> oracle_pb2.AnswerResponse:
        """Store one answer."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.answer.session, "answer.session")
        ack = await self._labeling.answer(session_id, labeler, _holder(labeler), request.answer)
        return oracle_pb2.AnswerResponse(ack=_of(ack, session_id))

    @rpc
    @undisturbed
    async def Extend(
        self, request: oracle_pb2.ExtendRequest, context: Context
    ) -> oracle_pb2.ExtendResponse:
        """Extend leases."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.extend.session, "extend.session")
        ack = await self._labeling.extend(session_id, labeler, _holder(labeler), request.extend)
        return oracle_pb2.ExtendResponse(ack=_of(ack, session_id))

    @rpc
    @undisturbed
    async def Release(
        self, request: oracle_pb2.ReleaseRequest, context: Context
    ) -> oracle_pb2.ReleaseResponse:
        """Give queries back."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.release.session, "release.session")
        ack = await self._labeling.release(session_id, _holder(labeler), request.release.lease_ids)
        return oracle_pb2.ReleaseResponse(ack=_of(ack, session_id))

    @rpc
    @undisturbed
    async def Skip(
        self, request: oracle_pb2.SkipRequest, context: Context
    ) -> oracle_pb2.SkipResponse:
        """Pass on a query."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.skip.session, "skip.session")
        ack = await self._labeling.skip(session_id, labeler, _holder(labeler), request.skip)
        return oracle_pb2.SkipResponse(ack=_of(ack, session_id))

    @rpc
    @undisturbed
    async def Retract(
        self, request: oracle_pb2.RetractRequest, context: Context
    ) -> oracle_pb2.RetractResponse:
        """Withdraw a vote."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.retract.session, "retract.session")
        ack = await self._labeling.retract(session_id, labeler, request.retract)
        return oracle_pb2.RetractResponse(ack=_of(ack, session_id))


def _holder(labeler: str) -> str:
    """Whose leases those of the unary calls are."""
    return f"{labeler}/"


def _of(ack: oracle_pb2.Ack, session_id: SessionId) -> oracle_pb2.Ack:
    ack.session = names.session_name(session_id)
    return ack
