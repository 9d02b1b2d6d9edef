"""ScoringService: one short method per call."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import numpy as np

from svddtune.service import convert, names, validate
from svddtune.service.call_log import name_session
from svddtune.service.draining import Draining
from svddtune.service.models import Computing, Models, NamedModel
from svddtune.service.quotas import Quotas, client_of
from svddtune.service.scoring import MOST_ROWS, Judge
from svddtune.service.silence import prompt
from svddtune.service.status import Context, rpc, unbroken
from svddtune.service.validate import invalid_field
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import InvalidInput, TooLarge
from svddtune.v1 import scoring_pb2, scoring_pb2_grpc

# Seconds for which an uploaded model is kept.
_TTL_S, _SHORTEST_TTL_S, _LONGEST_TTL_S = 86_400.0, 60.0, 2_592_000.0
# Size of the parts of a file that is sent. A multiple of 3, so that the parts in base64, as JSON
# has them, are one after the other the file in base64.
_PART_BYTES = 3 << 17


class ScoringServicer(scoring_pb2_grpc.ScoringServiceServicer):
    """Judges rows by models, and keeps uploaded models."""

    def __init__(
        self,
        models: Models,
        datasets: DatasetStore,
        computing: Computing,
        draining: Draining,
        *,
        upload_timeout_s: float,
        quotas: Quotas,
    ) -> None:
        self._models = models
        self._datasets = datasets
        self._computing = computing
        self._draining = draining
        self._upload_timeout_s = upload_timeout_s
        self._quotas = quotas

    @rpc
    async def Score(
        self, request: scoring_pb2.ScoreRequest, context: Context
    ) -> scoring_pb2.ScoreResponse:
        """Judge some rows."""
        judge = Judge(await self._models.get(request.model, "model"), request)
        response = scoring_pb2.ScoreResponse(model=judge.name)
        if request.dataset_rows:
            await self._score_stored(request, judge, response)
            return response
        rows = await self._computing(judge.read, request)
        if len(rows) == 0:
            raise invalid_field(
                "rows", "empty", f"1 to {MOST_ROWS} rows, in matrix, rows or dataset_rows"
            )
        judge.check_response(len(rows))
        for _, block in judge.blocks(rows):
            await self._computing(judge.judge, block, response.scores)
        return response

    async def _score_stored(
        self,
        request: scoring_pb2.ScoreRequest,
        judge: Judge,
        response: scoring_pb2.ScoreResponse,
    ) -> None:
        """Judge rows of the dataset that the model was fitted on, read block by block."""
        listed = request.dataset_rows
        validate.in_range("len(dataset_rows)", len(listed), 1, MOST_ROWS)
        if request.matrix.ByteSize() or request.rows or request.feature_names:
            raise invalid_field(
                "dataset_rows",
                f"{len(listed)} rows",
                "none beside matrix, rows or feature_names",
            )
        if names.is_model_name(judge.name):
            raise invalid_field("dataset_rows", f"{len(listed)} rows", "only with a result")
        judge.check_response(len(listed))
        dataset_id = await self._models.dataset_of(judge.name)
        dataset = await unbroken(self._datasets.get(dataset_id))
        validate.rows_within("dataset_rows", listed, dataset.observation_count)
        for start in range(0, len(listed), judge.block_rows):
            block = listed[start : start + judge.block_rows]
            values = await unbroken(
                self._datasets.values(dataset_id, block, feature_count=dataset.feature_count)
            )
            rows = np.frombuffer(values, "<f8").reshape(len(block), dataset.feature_count)
            await self._computing(judge.judge, rows, response.scores)

    @rpc
    async def ScoreStream(
        self, request_iterator: AsyncIterator[scoring_pb2.ScoreStreamRequest], context: Context
    ) -> None:
        """Judge the rows of one message after the other."""
        with self._quotas.streams.one(client_of(context)):
            await self._score_stream(request_iterator, context)

    async def _score_stream(
        self, request_iterator: AsyncIterator[scoring_pb2.ScoreStreamRequest], context: Context
    ) -> None:
        judge: Judge | None = None
        row = 0
        async with aclosing(self._draining.requests(request_iterator)) as requests:
            async for request in requests:
                if request.HasField("header") != (judge is None):
                    raise InvalidInput(
                        "PROTOCOL_VIOLATION",
                        "The first message of a stream has the header, and no other one has it.",
                    )
                if judge is None:
                    header = request.header
                    name_session(header.model)
                    judge = Judge(await self._models.get(header.model, "header.model"), header)
                rows = await self._computing(judge.read, request, row)
                for start, block in judge.blocks(rows):
                    response = scoring_pb2.ScoreStreamResponse(
                        model=judge.name, first_row=row + start
                    )
                    await self._computing(judge.judge, block, response.scores)
                    # This waits while the client does not read.
                    await context.write(response)
                row += len(rows)

    @rpc
    async def UploadModel(
        self, request_iterator: AsyncIterator[scoring_pb2.UploadModelRequest], context: Context
    ) -> scoring_pb2.UploadModelResponse:
        """Check and store a model file."""
        with self._quotas.uploads.one(client_of(context)):
            return await self._receive(request_iterator)

    async def _receive(
        self, request_iterator: AsyncIterator[scoring_pb2.UploadModelRequest]
    ) -> scoring_pb2.UploadModelResponse:
        ttl_s: float | None = None
        content = bytearray()
        async for request in prompt(
            request_iterator,
            self._upload_timeout_s,
            reason="UPLOAD_TIMEOUT",
            awaited="further part of the model",
        ):
            part = request.WhichOneof("part")
            if ttl_s is None and part == "header":
                ttl_s = _ttl_s(request.header)
            elif ttl_s is not None and part == "chunk":
                content += request.chunk
                self._check_size(len(content))
            else:
                raise _misplaced(part)
        if ttl_s is None:
            raise _misplaced(None)
        model = await self._models.upload(bytes(content), ttl_s)
        return scoring_pb2.UploadModelResponse(model=_model_to_proto(model))

    @rpc
    async def GetModel(
        self, request: scoring_pb2.GetModelRequest, context: Context
    ) -> scoring_pb2.GetModelResponse:
        """Describe a model."""
        model = await self._models.get(request.name, "name")
        return scoring_pb2.GetModelResponse(model=_model_to_proto(model))

    @rpc
    async def DownloadModel(
        self, request: scoring_pb2.DownloadModelRequest, context: Context
    ) -> None:
        """Stream a model's file."""
        content = await self._models.file(request.name, "name")
        for start in range(0, len(content), _PART_BYTES):
            chunk = content[start : start + _PART_BYTES]
            await context.write(scoring_pb2.DownloadModelResponse(chunk=chunk))

    @rpc
    async def DeleteModel(
        self, request: scoring_pb2.DeleteModelRequest, context: Context
    ) -> scoring_pb2.DeleteModelResponse:
        """Delete an uploaded model."""
        await self._models.delete(request.name)
        return scoring_pb2.DeleteModelResponse()

    def _check_size(self, size: int) -> None:
        most = self._models.most_bytes
        if size > most:
            raise TooLarge(
                "MODEL_TOO_LARGE",
                f"The model file is above {most} bytes, which is the limit of this server.",
                limit=most,
            )


def _ttl_s(header: scoring_pb2.ModelUploadHeader) -> float:
    if not header.HasField("ttl_seconds"):
        return _TTL_S
    return validate.in_range(
        "header.ttl_seconds", header.ttl_seconds, _SHORTEST_TTL_S, _LONGEST_TTL_S
    )


def _misplaced(part: str | None) -> InvalidInput:
    return invalid_field("part", part or "not set", "the header in the first message, then chunks")


def _model_to_proto(model: NamedModel) -> scoring_pb2.Model:
    fitted = model.fitted
    return scoring_pb2.Model(
        name=model.name,
        feature_count=fitted.feature_count,
        feature_names=fitted.feature_names,
        support_vector_count=len(fitted.alphas),
        has_refined=fitted.refined is not None,
        has_profile=fitted.profile is not None,
        expire_time=None if model.expires_ms is None else convert.timestamp(model.expires_ms),
    )
