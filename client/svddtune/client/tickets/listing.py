"""A session's own observations: ids and display fields, as the service lists them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import grpc

from svddtune.client.channel import open_channel
from svddtune.client.errors import from_rpc_error
from svddtune.v1 import dataset_pb2 as dpb
from svddtune.v1 import dataset_pb2_grpc

ID_FIELD = "(observation id)"
"""Where `list_observations` has the id, beside the display fields, which may have any name."""

_PAGE = 10_000


def list_observations(
    address: str,
    dataset: str,
    *,
    tls_ca: str | os.PathLike[str] | bytes | None = None,
    timeout_s: float = 30.0,
) -> Iterator[dict[str, str]]:
    """Yield what a dataset's rows are called and show, in the order of the rows.

    Parameters
    ----------
    address : str
        HOST:PORT or unix:PATH of the service.
    dataset : str
        Resource name.

    Raises
    ------
    SvddtuneError
        NotFound where there is no such dataset, Unavailable where nobody answers.
    """
    token = ""
    with open_channel(address, tls_ca=tls_ca) as channel:
        stub = dataset_pb2_grpc.DatasetServiceStub(channel)
        while True:
            request = dpb.ListObservationsRequest(parent=dataset, page_size=_PAGE, page_token=token)
            try:
                page = stub.ListObservations(request, timeout=timeout_s)
            except grpc.RpcError as error:
                raise from_rpc_error(error, address) from None
            for observation in page.observations:
                shown = {field.key: field.value for field in observation.display}
                yield {**shown, ID_FIELD: observation.observation_id}
            token = page.next_page_token
            if not token:
                return
