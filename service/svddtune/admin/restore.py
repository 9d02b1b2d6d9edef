"""``svddtune restore``: what a backup has becomes part of a store again."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from svddtune.admin.archive import Reader, reading
from svddtune.admin.backup import DatasetStoreUrl
from svddtune.admin.store import DEFAULT_REDIS, Partitions, RedisUrl, reported, store
from svddtune.client.cli.options import Json
from svddtune.client.errors import Conflict, InvalidInput, NotFound, UsageError, WrongState
from svddtune.client.terminal.output import print_json, say
from svddtune.state import keys
from svddtune.state.backup import StoredDataset, StoredSession
from svddtune.state.connect import Redis
from svddtune.state.examine import examine
from svddtune.state.restore import Outcome, Restore
from svddtune.state.session import DatasetId, ModelId, SessionId

app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A backup.")
    ],
    session: Annotated[
        list[str] | None,
        typer.Option("--session", metavar="ID", help="Only this session; may be repeated."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace sessions that are there.")
    ] = False,
    new_ids: Annotated[
        bool, typer.Option("--new-ids", help="Give the sessions new ids, beside those there.")
    ] = False,
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    dataset_store: DatasetStoreUrl = "",
    as_json: Json = False,
) -> None:
    """Restore sessions with their data from a file of `svddtune backup`.

    The service may run. Before anything is written, the whole file is checked. Sessions that are
    there are refused, unless --replace or --new-ids is given.
    """
    if replace and new_ids:
        raise UsageError("Give --replace or --new-ids, not both.")
    with reading(file) as archive, store(redis) as client, reported():
        archive.check()
        examine(client)
        run = _Restore(client, archive, partitions, dataset_store)
        run.choose(session or [], new_ids=new_ids)
        if not replace and (there := run.present()):
            raise Conflict(
                f"{len(there)} of the sessions are there already, {there[0]} for one. Give "
                f"--replace to replace them, or --new-ids to restore them beside these.",
                reason="SESSION_EXISTS",
            )
        run.restore(replace=replace, models=not session)
    if as_json:
        print_json({"sessions": run.chosen, "datasets": run.datasets, "models": run.models})
        return
    for old, new in run.chosen.items():
        say(f"sessions/{new}" + ("" if old == new else f" (was {old})"))
    say(
        f"Restored {len(run.chosen)} sessions, {len(run.datasets)} datasets and {len(run.models)} "
        f"models of {archive.made_at}."
    )


class _Restore:
    """One run of the command."""

    def __init__(self, client: Redis, archive: Reader, partitions: int, dataset_store: str) -> None:
        self._client = client
        self._archive = archive
        self._partitions = partitions
        self._dataset_store = dataset_store
        self._restore = Restore(client)
        # Id of each session in the file -> its id here.
        self.chosen: dict[str, SessionId] = {}
        self._sessions: dict[str, dict[bytes, bytes]] = {}
        # What was restored; others were there.
        self.datasets: list[str] = []
        self.models: list[str] = []

    def choose(self, wanted: list[str], *, new_ids: bool) -> None:
        """Decide which sessions to restore, and under which ids."""
        names = [one.removeprefix("sessions/") for one in wanted]
        for name in names or self._archive.sessions:
            if name not in self._archive.sessions:
                raise NotFound(
                    f"The backup has no session {name}. It has: "
                    f"{', '.join(self._archive.sessions) or 'none'}.",
                    reason="SESSION_NOT_FOUND",
                )
            fields = self._archive.get(f"sessions/{name}/fields")
            partition = keys.partition_of_dataset(
                DatasetId(fields[b"dataset"].decode()), self._partitions
            )
            session_id = keys.new_session_id(partition) if new_ids else SessionId(name)
            if keys.partition_of_session(session_id) != partition:
                raise WrongState(
                    f"Session {name} has its partition in its id, and with --partitions "
                    f"{self._partitions} its dataset belongs to another. Give the number of "
                    f"partitions that it was made with, or --new-ids.",
                    reason="PARTITIONS_DIFFER",
                )
            self.chosen[name] = session_id
            self._sessions[name] = fields

    def present(self) -> list[SessionId]:
        """Those of the ids that are taken."""
        return [one for one in self.chosen.values() if self._client.exists(keys.session(one))]

    def restore(self, *, replace: bool, models: bool) -> None:
        """Write datasets, then sessions, then models."""
        needed = {fields[b"dataset"].decode() for fields in self._sessions.values()}
        for name in self._archive.datasets:
            if models or name in needed:
                self._one_dataset(DatasetId(name))
        for name, session_id in self.chosen.items():
            fields = self._sessions[name]
            stored = StoredSession(
                SessionId(name),
                DatasetId(fields[b"dataset"].decode()),
                fields,
                {part: (kind, value) for part, kind, value in self._parts("sessions", name)},
            )
            outcome = self._restore.session(stored, session_id, replace=replace)
            if outcome != "restored":
                _refuse(outcome, session_id)
        for name in self._archive.models if models else ():
            entry = self._archive.get(f"models/{name}")
            partition = keys.partition_of_model(ModelId(name), self._partitions)
            if self._restore.model(
                partition, ModelId(name), entry["pieces"], int(entry["expires_ms"])
            ):
                self.models.append(name)

    def _parts(self, kind: str, name: str) -> Iterator[tuple[str, str, Any]]:
        for part in getattr(self._archive, kind)[name]:
            if not part.startswith("object:"):
                entry = self._archive.get(f"{kind}/{name}/{part}")
                yield part, entry["type"], entry["value"]

    def _one_dataset(self, dataset_id: DatasetId) -> None:
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        if self._client.exists(keys.dataset(partition, dataset_id)):
            return
        stored = StoredDataset(dataset_id, self._archive.get(f"datasets/{dataset_id}/fields"))
        objects = [
            part for part in self._archive.datasets[dataset_id] if part.startswith("object:")
        ]
        if objects:
            fields = stored.fields | {b"stored": self._put_objects(stored, objects)}
            stored = StoredDataset(dataset_id, fields)
        outcome = self._restore.dataset(partition, stored, self._parts("datasets", dataset_id))
        if outcome == "incomplete":
            _refuse(outcome, dataset_id)
        self.datasets.append(dataset_id)

    def _put_objects(self, stored: StoredDataset, objects: list[str]) -> bytes:
        """Put rows into the dataset store; returns what the dataset is to say of them."""
        if not self._dataset_store:
            raise InvalidInput(
                f"The rows of dataset {stored.id} belong into a dataset store: give its URL in "
                f"--dataset-store.",
                reason="DATASET_STORE_NOT_SET",
            )
        from svddtune.state.calls import Scripts
        from svddtune.state.datasets import owner_of_blocking
        from svddtune.state.rows import RowStore

        rows = RowStore(self._dataset_store)
        pieces = (self._archive.get(f"datasets/{stored.id}/{part}") for part in objects)
        owner = owner_of_blocking(Scripts(self._client))
        put = asyncio.run(rows.put(stored.id, owner, pieces, stored.shape[1]))
        return put.SerializeToString()


def _refuse(outcome: Outcome, name: str) -> NoReturn:
    raise Conflict(
        {
            "exists": f"Session {name} was made meanwhile; give --replace to replace it.",
            "orphan": f"The dataset of session {name} is not there, nor in the backup.",
            "incomplete": f"Restoring {name} took longer than an hour, so parts of it are gone. "
            "Try again.",
        }[outcome],
        reason="RESTORE_FAILED",
    )
