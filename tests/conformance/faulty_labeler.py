"""The Python client's program with one fault: ``python faulty_labeler.py FAULT label ...``.

The fault sits between the client and its stream, so it does not depend on what the client looks
like inside.
"""

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeAlias

import grpc

sys.path.insert(0, str(Path(__file__).parents[2]))

from conformance.clients.python import labeler

from svddtune.v1 import common_pb2, oracle_pb2, oracle_pb2_grpc

Request: TypeAlias = oracle_pb2.ConverseRequest
Response: TypeAlias = oracle_pb2.ConverseResponse


def die() -> None:
    """End the program at once, as a crash does."""
    os._exit(1)


class NoFault:
    """The calls of one client, without a fault; the others are derived from it."""

    def __init__(self, converse: Any) -> None:
        self._converse = converse
        self._call: Any = None
        self.streams = 0
        # The ids of answers and the leases of other items, on earlier streams and on this one.
        self.earlier: set[str] = set()
        self.now: set[str] = set()

    def __call__(self, **options: Any) -> "NoFault":
        """Open a stream."""
        self._call = self._converse(**options)
        self.streams += 1
        self.earlier |= self.now
        self.now = set()
        return self

    def cancel(self) -> None:
        """Cancel the stream."""
        self._call.cancel()

    async def done_writing(self) -> None:
        """Close this side."""
        await self._call.done_writing()

    async def write(self, request: Request) -> None:
        """Send what the fault makes of a request."""
        changed = self.out(request)
        if changed is not None:
            await self._call.write(changed)

    async def __aiter__(self) -> AsyncIterator[Response]:
        try:
            async for response in self._call:
                changed = await self.back(response)
                if changed is not None:
                    yield changed
        except grpc.aio.AioRpcError as error:
            raise self.failed(error) from None
        self.ended()

    def resent(self, request: Request) -> bool:
        """Whether an item was sent on an earlier stream."""
        leases = "".join(request.release.lease_ids)
        item = request.answer.answer_id or request.skip.lease_id or leases
        self.now.add(item)
        return bool(item) and item in self.earlier

    # What a fault changes

    def out(self, request: Request) -> Request | None:
        """Return what is sent in place of a request; None sends nothing."""
        return request

    async def back(self, response: Response) -> Response | None:
        """Return what the client hears in place of a response; None lets it hear nothing."""
        return response

    def failed(self, error: grpc.aio.AioRpcError) -> grpc.aio.AioRpcError:
        """Return the error that the client gets."""
        return error

    def ended(self) -> None:
        """Do something at the end with OK."""


class SendsNothingAgain(NoFault):
    def out(self, request: Request) -> Request | None:
        return None if self.resent(request) else request


class SendsAgainWithNewId(NoFault):
    def out(self, request: Request) -> Request | None:
        if self.resent(request):
            request.answer.answer_id += "-again"
        return request


class SendsAgainWhatHasAnAck(NoFault):
    def __init__(self, converse: Any) -> None:
        super().__init__(converse)
        self.answers: list[Request] = []

    def out(self, request: Request) -> Request | None:
        if request.HasField("answer"):
            self.answers.append(request)
        return request

    async def back(self, response: Response) -> Response | None:
        if response.HasField("welcome"):
            for request in self.answers[:-1]:
                await self._call.write(request)
        return response


class UsesOneAnswerId(NoFault):
    def out(self, request: Request) -> Request | None:
        if request.HasField("answer"):
            request.answer.answer_id = "answer"
        return request


class SendsNoHeartbeat(NoFault):
    def out(self, request: Request) -> Request | None:
        return None if request.HasField("extend") else request


class DiesOnReject(NoFault):
    async def back(self, response: Response) -> Response | None:
        if response.HasField("reject"):
            die()
        return response


class IgnoresDrain(NoFault):
    async def back(self, response: Response) -> Response | None:
        return None if response.HasField("drain") else response


class SaysByeAtDrain(NoFault):
    async def back(self, response: Response) -> Response | None:
        if response.HasField("drain"):
            await self._call.write(Request(bye=oracle_pb2.Bye()))
        return response


class ForgetsResumeToken(NoFault):
    def out(self, request: Request) -> Request | None:
        if request.HasField("hello"):
            request.hello.resume_token = ""
        return request


class DiesOnUnknownItem(NoFault):
    async def back(self, response: Response) -> Response | None:
        if response.WhichOneof("message") is None:
            die()
        return response


class DiesOnUnknownEnumValue(NoFault):
    async def back(self, response: Response) -> Response | None:
        if response.revoke.reason not in oracle_pb2.RevokeReason.values():
            die()
        return response


class AnswersAlwaysOutlier(NoFault):
    def out(self, request: Request) -> Request | None:
        if request.HasField("answer"):
            request.answer.verdict = common_pb2.VERDICT_OUTLIER
        return request


class TakesOkForTheEnd(NoFault):
    def ended(self) -> None:
        os._exit(0)


class TriesAgainForEver(NoFault):
    def failed(self, error: grpc.aio.AioRpcError) -> grpc.aio.AioRpcError:
        none = grpc.aio.Metadata()
        return grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, none, none, error.details(), None)


class DiesIfUnavailable(NoFault):
    def failed(self, error: grpc.aio.AioRpcError) -> grpc.aio.AioRpcError:
        die()
        return error


class CountsEveryAck(NoFault):
    def __init__(self, converse: Any) -> None:
        super().__init__(converse)
        self.acked: set[str] = set()

    async def back(self, response: Response) -> Response | None:
        if response.ack.answer_id in self.acked:
            print(json.dumps({"event": "acked", "query": response.ack.query, "applied": True}))
        if response.HasField("ack"):
            self.acked.add(response.ack.answer_id)
        return response


class TakesAcksInOrder(NoFault):
    def __init__(self, converse: Any) -> None:
        super().__init__(converse)
        self.waiting: list[Request] = []

    def out(self, request: Request) -> Request | None:
        if request.HasField("answer"):
            self.waiting.append(request)
        return request

    async def back(self, response: Response) -> Response | None:
        for item in (response.ack, response.reject):
            if item.answer_id:
                first = self.waiting.pop(0)
                item.answer_id = first.answer.answer_id
                item.query = first.answer.query
                item.request_id = first.request_id
        return response


class LeavesAtFinished(NoFault):
    async def back(self, response: Response) -> Response | None:
        if response.HasField("finished"):
            await self._call.write(Request(bye=oracle_pb2.Bye()))
        return response


class StaysAfterFinished(NoFault):
    async def back(self, response: Response) -> Response | None:
        return None if response.HasField("finished") else response


class KeepsTheFirstLease(NoFault):
    def __init__(self, converse: Any) -> None:
        super().__init__(converse)
        self.leases: dict[int, str] = {}

    async def back(self, response: Response) -> Response | None:
        if response.HasField("assign"):
            assign = response.assign
            assign.lease_id = self.leases.setdefault(assign.query, assign.lease_id)
        return response


class DiesOnLostLease(NoFault):
    async def back(self, response: Response) -> Response | None:
        if response.HasField("revoke") or response.ack.lost_lease_ids:
            die()
        return response


class DropsAckAfterRevoke(NoFault):
    def __init__(self, converse: Any) -> None:
        super().__init__(converse)
        self.revoked: set[int] = set()

    async def back(self, response: Response) -> Response | None:
        if response.HasField("revoke"):
            self.revoked.add(response.revoke.query)
        return None if response.ack.query in self.revoked else response


class CountsLateAnswers(NoFault):
    async def back(self, response: Response) -> Response | None:
        if response.HasField("ack"):
            response.ack.disposition = oracle_pb2.Ack.DISPOSITION_APPLIED
        return response


class AsksForOneQuery(NoFault):
    def out(self, request: Request) -> Request | None:
        if request.HasField("hello"):
            request.hello.credit = 1
        return request


_KINDS: list[type[NoFault]] = [NoFault, *NoFault.__subclasses__()]
FAULTS = {kind.__name__: kind for kind in _KINDS}


def main() -> None:
    """Run the program with the fault that the first argument names."""
    fault = FAULTS[sys.argv.pop(1)]
    good = oracle_pb2_grpc.OracleServiceStub

    def faulty(channel: Any) -> Any:
        stub: Any = good(channel)
        stub.Converse = fault(stub.Converse)
        return stub

    oracle_pb2_grpc.OracleServiceStub = faulty  # type: ignore[assignment,misc]
    labeler.main()


if __name__ == "__main__":
    main()
