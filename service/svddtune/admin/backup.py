"""``svddtune backup``: sessions with all that they need, in one file, while the service runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from svddtune.admin.archive import Writer, writing
from svddtune.admin.store import DEFAULT_REDIS, Partitions, RedisUrl, reported, store
from svddtune.client.cli.options import Json
from svddtune.client.errors import NotFound, WrongState
from svddtune.client.terminal.output import print_json, say
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import backup as state
from svddtune.state import keys
from svddtune.state.connect import Redis
from svddtune.state.session import DatasetId, SessionId

app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})

DatasetStoreUrl = Annotated[
    str,
    typer.Option(
        "--dataset-store",
        envvar="SVDDTUNE_DATASET_STORE",
        metavar="URL",
        help="Where rows of large datasets are. Without it a backup refers to them.",
    ),
]
# The object of some rows, by its index: as bytes of doubles.
_Objects = Callable[[state.StoredDataset, jobs_pb2.StoredRows, int], bytes]


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    session: Annotated[
        list[str] | None,
        typer.Option("--session", metavar="ID", help="Only this session; may be repeated."),
    ] = None,
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    dataset_store: DatasetStoreUrl = "",
    as_json: Json = False,
) -> None:
    """Write sessions with their data, labels, logs and results to one file.

    The service may run. Without --session, the file has all sessions, datasets and uploaded models.
    """
    wanted = [_session_id(one) for one in session or ()]
    with store(redis) as client, reported():
        found = state.layout(client)
        known = range(keys.OLDEST_LAYOUT, keys.LAYOUT_VERSION + 1)
        if found is not None and found not in known:
            raise WrongState(
                f"The data have layout {found}, this version backs up layouts {known[0]} to "
                f"{known[-1]}. Use the version of svddtune that wrote them.",
                reason="REDIS_UNSAFE",
            )
        with writing(file) as out:
            run = _Backup(client, out, partitions, _objects(dataset_store))
            run.take(wanted)
    if as_json:
        print_json(run.contents | {"file": str(file), "referenced": run.referenced})
        return
    counts = {name: len(found) for name, found in run.contents.items()}
    say(f"{file}: " + ", ".join(f"{count} {name}" for name, count in counts.items()) + ".")
    if run.referenced:
        say(
            f"The rows of {len(run.referenced)} datasets are in the dataset store, and only there. "
            "To include them, give its URL in --dataset-store."
        )


class _Backup:
    """One run of the command."""

    def __init__(
        self, client: Redis, out: Writer, partitions: int, objects: _Objects | None
    ) -> None:
        self._client = client
        self._out = out
        self._partitions = partitions
        self._objects = objects
        # What the file has: sessions and datasets with the names of their parts, and models.
        self.contents: dict[str, Any] = {"sessions": {}, "datasets": {}, "models": []}
        # Datasets whose rows are elsewhere.
        self.referenced: list[DatasetId] = []

    def take(self, wanted: list[SessionId]) -> None:
        for session_id in wanted or state.session_ids(self._client, self._partitions):
            if not self._session(session_id) and wanted:
                raise NotFound(f"There is no session {session_id}.", reason="SESSION_NOT_FOUND")
        if not wanted:
            for dataset_id in state.dataset_ids(self._client, self._partitions):
                partition = keys.partition_of_dataset(dataset_id, self._partitions)
                self._dataset(partition, dataset_id)
            for model_id in state.model_ids(self._client, self._partitions):
                partition = keys.partition_of_model(model_id, self._partitions)
                pieces, expires_ms = state.model(self._client, partition, model_id)
                if pieces:
                    self._out.add(
                        f"models/{model_id}", {"pieces": pieces, "expires_ms": expires_ms}
                    )
                    self.contents["models"].append(model_id)
        # Read now: it may have been raised meanwhile, and never falls.
        layout = state.layout(self._client)
        self._out.finish(self.contents, keys.LAYOUT_VERSION if layout is None else layout)

    def _session(self, session_id: SessionId) -> bool:
        found = state.session(self._client, session_id)
        # (Whoever deletes a session may delete its dataset next.)
        if found is None or not self._dataset(
            keys.partition_of_session(session_id), found.dataset_id
        ):
            return False
        self._out.add(f"sessions/{session_id}/fields", found.fields)
        for part, (kind, value) in found.parts.items():
            self._out.add(f"sessions/{session_id}/{part}", {"type": kind, "value": value})
        self.contents["sessions"][session_id] = list(found.parts)
        return True

    def _dataset(self, partition: int, dataset_id: DatasetId) -> bool:
        if dataset_id in self.contents["datasets"]:
            return True
        found = state.dataset(self._client, partition, dataset_id)
        if found is None:
            return False
        parts = []
        for part, kind, value in state.dataset_parts(self._client, partition, found):
            self._out.add(f"datasets/{dataset_id}/{part}", {"type": kind, "value": value})
            parts.append(part)
        if found.stored is not None and self._objects is None:
            self.referenced.append(dataset_id)
        elif found.stored is not None and self._objects is not None:
            for index in range(len(found.stored.sha256)):
                content = self._objects(found, found.stored, index)
                self._out.add(f"datasets/{dataset_id}/object:{index}", content)
                parts.append(f"object:{index}")
        self._out.add(f"datasets/{dataset_id}/fields", found.fields)
        self.contents["datasets"][dataset_id] = parts
        return True


def _session_id(text: str) -> SessionId:
    name = text.removeprefix("sessions/")
    if not keys.is_session_id(name):
        raise NotFound(
            f"{text} is not the id of a session; `svddtune session list` lists them.",
            reason="SESSION_NOT_FOUND",
        )
    return SessionId(name)


def _objects(url: str) -> _Objects | None:
    if not url:
        return None
    from svddtune.state.rows import RowStore

    rows = RowStore(url)

    def read(found: state.StoredDataset, stored: jobs_pb2.StoredRows, index: int) -> bytes:
        return rows.fetch(found.id, stored, index, found.shape).tobytes()

    return read
