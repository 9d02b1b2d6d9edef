"""DatasetService: one short method per call."""

from collections.abc import AsyncIterator

from svddtune.service import convert, filters, names, upload, validate
from svddtune.service.quotas import Quotas, client_of
from svddtune.service.silence import prompt
from svddtune.service.status import Context, rpc, undisturbed
from svddtune.service.views import labels_only, seen_dataset
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import NotFound
from svddtune.state.uploads import UploadStore
from svddtune.v1 import dataset_pb2, dataset_pb2_grpc

# Observations in one page.
MOST_OBSERVATIONS = 10_000
# Rows that one request may list.
MOST_LISTED = 1000


class DatasetServicer(dataset_pb2_grpc.DatasetServiceServicer):
    """Uploads, describes, lists and deletes datasets."""

    def __init__(
        self,
        datasets: DatasetStore,
        uploads: UploadStore,
        limits: upload.Limits,
        *,
        upload_timeout_s: float,
        quotas: Quotas,
    ) -> None:
        self._datasets = datasets
        self._uploads = uploads
        self._limits = limits
        self._upload_timeout_s = upload_timeout_s
        self._quotas = quotas

    @rpc
    async def UploadDataset(
        self, request_iterator: AsyncIterator[dataset_pb2.UploadDatasetRequest], context: Context
    ) -> dataset_pb2.UploadDatasetResponse:
        """Check, spool and store an upload."""
        requests = prompt(
            request_iterator,
            self._upload_timeout_s,
            reason="UPLOAD_TIMEOUT",
            awaited="further part of the upload",
        )
        with self._quotas.uploads.one(client_of(context)):
            dataset, existed = await upload.receive(
                requests, self._datasets, self._uploads, self._limits
            )
        return dataset_pb2.UploadDatasetResponse(dataset=dataset, already_existed=existed)

    @rpc
    @undisturbed
    async def GetUpload(
        self, request: dataset_pb2.GetUploadRequest, context: Context
    ) -> dataset_pb2.GetUploadResponse:
        """Tell how far an upload has come."""
        rows, dataset_id = await self._uploads.find(validate.upload_id(request.upload_id))
        if dataset_id is None:
            return dataset_pb2.GetUploadResponse(row_count=rows)
        try:
            dataset = await self._datasets.get(dataset_id)
        except NotFound:
            # It was deleted since; the upload begins again.
            return dataset_pb2.GetUploadResponse()
        return dataset_pb2.GetUploadResponse(row_count=dataset.observation_count, dataset=dataset)

    @rpc
    @undisturbed
    async def GetDataset(
        self, request: dataset_pb2.GetDatasetRequest, context: Context
    ) -> dataset_pb2.GetDatasetResponse:
        """Describe one dataset."""
        dataset_id = names.dataset_id(request.name)
        dataset = await self._datasets.get(dataset_id)
        if labels_only():
            dataset = seen_dataset(dataset, await self._datasets.session_configs(dataset_id))
        return dataset_pb2.GetDatasetResponse(dataset=dataset)

    @rpc
    @undisturbed
    async def ListDatasets(
        self, request: dataset_pb2.ListDatasetsRequest, context: Context
    ) -> dataset_pb2.ListDatasetsResponse:
        """Describe a page of datasets, newest first."""
        datasets, position = await self._datasets.list_datasets(
            limit=validate.page_size(request.page_size),
            most_bytes=convert.MOST_BYTES,
            before=convert.page_position(request.page_token),
            accept=filters.by_name_and_labels(request.display_name, request.labels),
        )
        page = convert.fitting(datasets)
        if len(page) < len(datasets):
            last = page[-1]
            position = (last.create_time.ToMilliseconds(), names.dataset_id(last.name))
        token = convert.page_token(*position) if position else ""
        return dataset_pb2.ListDatasetsResponse(datasets=page, next_page_token=token)

    @rpc
    @undisturbed
    async def ListObservations(
        self, request: dataset_pb2.ListObservationsRequest, context: Context
    ) -> dataset_pb2.ListObservationsResponse:
        """Ids and display fields of a page of observations, in the order asked for."""
        dataset_id = names.dataset_id(request.parent, "parent")
        size = validate.page_size(request.page_size, default=1000, most=MOST_OBSERVATIONS)
        first = convert.row_position(request.page_token)
        validate.in_range("len(rows)", len(request.rows), 0, MOST_LISTED)
        dataset = await self._datasets.get(dataset_id)
        validate.rows_within("rows", request.rows, dataset.observation_count)
        listed = tuple(request.rows) or range(dataset.observation_count)
        rows = listed[first : first + size]
        # Nothing is read that the response does not hold.
        if rows:
            count = await self._datasets.count_within(dataset_id, rows, convert.MOST_BYTES)
            rows = rows[:count]
        named = await self._datasets.named(dataset_id, rows)
        page = convert.fitting(
            [
                dataset_pb2.Observation(row=row, observation_id=name, display=display.fields)
                for row, (name, display) in zip(rows, named, strict=True)
            ]
        )
        end = first + len(page)
        return dataset_pb2.ListObservationsResponse(
            observations=page,
            next_page_token=convert.row_token(end) if end < len(listed) else "",
        )

    @rpc
    @undisturbed
    async def DeleteDataset(
        self, request: dataset_pb2.DeleteDatasetRequest, context: Context
    ) -> dataset_pb2.DeleteDatasetResponse:
        """Delete a dataset that no session uses."""
        await self._datasets.delete(
            names.dataset_id(request.name), request_id=validate.request_id(request.request_id)
        )
        return dataset_pb2.DeleteDatasetResponse()
