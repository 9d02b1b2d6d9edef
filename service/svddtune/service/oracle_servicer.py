"""OracleService: the stream and its unary twins, both on ``Labeling``."""

import asyncio
from collections.abc import AsyncIterator

from svddtune.service import names, validate
from svddtune.service.conversation import Conversation
from svddtune.service.convert import fitting, session_to_proto
from svddtune.service.draining import Draining
from svddtune.service.labeling import Labeling
from svddtune.service.status import Context, rpc, unbroken, undisturbed
from svddtune.state.notices import Notices
from svddtune.state.session import LeaseOutcome, SessionId, SessionState
from svddtune.v1 import oracle_pb2, oracle_pb2_grpc

_NOTHING_MORE = frozenset(SessionState) - {
    SessionState.PREPARING,
    SessionState.LABELING,
    SessionState.PAUSED,
}


class OracleServicer(oracle_pb2_grpc.OracleServiceServicer):
    """Where labelers get queries and leave answers."""

    def __init__(self, labeling: Labeling, notices: Notices, draining: Draining) -> None:
        self._labeling = labeling
        self._notices = notices
        self._draining = draining

    @rpc
    async def Converse(
        self, request_iterator: AsyncIterator[oracle_pb2.ConverseRequest], context: Context
    ) -> None:
        """The dialogue."""
        conversation = Conversation(self._labeling, self._notices, self._draining, context)
        await conversation.run(request_iterator)

    @rpc
    async def Lease(
        self, request: oracle_pb2.LeaseRequest, context: Context
    ) -> oracle_pb2.LeaseResponse:
        """Lease queries; wait for the first one."""
        session_id = names.session_id(request.session, "session")
        labeler = validate.labeler(request.labeler)
        most = validate.in_range("max_queries", request.max_queries or 1, 1, validate.MOST_CREDIT)
        wait_s = validate.in_range("wait_s", request.wait_s, 0.0, validate.LONGEST_WAIT_S)
        outcome = await self._wait_for_leases(session_id, labeler, most, wait_s)
        assigns = await unbroken(self._labeling.assignments(session_id, outcome.leases))
        session = await unbroken(self._labeling.session(session_id))
        over = outcome.state in _NOTHING_MORE
        return oracle_pb2.LeaseResponse(
            # What is left out comes with the next call.
            assignments=fitting(assigns),
            session=session_to_proto(session),
            finished_reason=outcome.finish_reason if over else "",
        )

    async def _wait_for_leases(
        self, session_id: SessionId, labeler: str, most: int, wait_s: float
    ) -> LeaseOutcome:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_s
        with (
            self._notices.watching(session_id) as changed,
            self._draining.stream(changed.set),
        ):
            while True:
                changed.clear()
                outcome = await unbroken(
                    self._labeling.lease(
                        session_id, holder=_holder(labeler), labeler=labeler, most=most
                    )
                )
                if outcome.leases or outcome.state in _NOTHING_MORE or loop.time() >= deadline:
                    return outcome
                wake_at = deadline
                if outcome.next_expiry_ms:
                    until_expiry_s = (outcome.next_expiry_ms - outcome.now_ms) / 1000
                    wake_at = min(deadline, loop.time() + until_expiry_s)
                timer = loop.call_at(wake_at, changed.set)
                try:
                    await changed.wait()
                finally:
                    timer.cancel()
                self._draining.check()

    @rpc
    @undisturbed
    async def Answer(
        self, request: oracle_pb2.AnswerRequest, context: Context
    ) -> oracle_pb2.AnswerResponse:
        """Store one answer."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.answer.session, "answer.session")
        ack = await self._labeling.answer(session_id, labeler, _holder(labeler), request.answer)
        return oracle_pb2.AnswerResponse(ack=ack)

    @rpc
    @undisturbed
    async def Extend(
        self, request: oracle_pb2.ExtendRequest, context: Context
    ) -> oracle_pb2.ExtendResponse:
        """Extend leases."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.extend.session, "extend.session")
        ack = await self._labeling.extend(session_id, _holder(labeler), request.extend)
        return oracle_pb2.ExtendResponse(ack=ack)

    @rpc
    @undisturbed
    async def Release(
        self, request: oracle_pb2.ReleaseRequest, context: Context
    ) -> oracle_pb2.ReleaseResponse:
        """Give queries back."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.release.session, "release.session")
        ack = await self._labeling.release(session_id, _holder(labeler), request.release.lease_ids)
        return oracle_pb2.ReleaseResponse(ack=ack)

    @rpc
    @undisturbed
    async def Retract(
        self, request: oracle_pb2.RetractRequest, context: Context
    ) -> oracle_pb2.RetractResponse:
        """Withdraw a label."""
        labeler = validate.labeler(request.labeler)
        session_id = names.session_id(request.retract.session, "retract.session")
        ack = await self._labeling.retract(session_id, labeler, request.retract)
        return oracle_pb2.RetractResponse(ack=ack)


def _holder(labeler: str) -> str:
    """Whose leases those of the unary calls are."""
    return f"{labeler}/"
