"""Workspace: what a worker reads for its jobs and how it commits their outcome. Synchronous.

Every commit takes the claim and refuses with ``ClaimLost`` where another worker has the job; all
methods raise ``StoreUnavailable`` where Redis is away.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray

from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import codec, keys
from svddtune.state.calls import Scripts
from svddtune.state.connect import Redis
from svddtune.state.datasets import UPLOAD_TTL_S, store_not_set
from svddtune.state.errors import NotFound
from svddtune.state.evidence import EvidenceReader
from svddtune.state.faults import redis_faults
from svddtune.state.jobs import preparation_k
from svddtune.state.queue import Claim
from svddtune.state.row_cache import RowCache
from svddtune.state.session import DatasetId, RankedRow, Session
from svddtune.v1 import dataset_pb2, result_pb2, tuning_pb2

# Control items of one labeler, and of all, that may be asked before the next ranking.
_CONTROLS_AHEAD = 4
_MOST_CONTROLS_AHEAD = 100
# Observation ids that a worker remembers.
_MOST_IDS = 100_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session with its labels, all of one instant."""

    session: Session
    # Changes so far of labels and of trusts; with query_count it identifies the moment.
    rev: int
    attempt: int
    # Row -> +1 or -1, and row -> the query that asked (0: none).
    labels: dict[int, int]
    asked_by: dict[int, int]
    # Rows that are not to be asked: dropped, unsure.
    dropped: frozenset[int]
    # Rows that are out with labelers or wait for one.
    open_rows: frozenset[int]
    estimating_ms: int
    prep_k: int
    # Rows labelled when the session was made.
    initial_rows: frozenset[int]
    # The atlas over the session's range of gamma is complete.
    atlas_ready: bool
    # Row -> labeler -> verdict (+1, -1, or 0 for UNSURE): the votes that count.
    votes: dict[int, dict[str, int]]
    # The last event of the log.
    moment: str
    # Row -> labeler -> probability that the vote is right, where its labeler gave one.
    confidences: dict[int, dict[str, float]] = field(default_factory=dict)
    # Row -> the adjudicator whose vote decides it.
    decided_by: dict[int, str] = field(default_factory=dict)
    # Those of initial_rows whose votes were answers in another session, so they may be wrong.
    answered_rows: frozenset[int] = frozenset()
    # Control items, and those of them that labelers may get next.
    control_rows: frozenset[int] = frozenset()
    next_controls: tuple[int, ...] = ()
    # LiveEvidence after each ranking, by the labels' rev.
    evidence: dict[bytes, bytes] = field(default_factory=dict)
    # Labels that the stored pictures of cells are made for; -1 where there are none.
    pictured: int = -1

    def history(self) -> list[bytes]:
        """What was live after each label, as LiveEvidence messages, oldest first."""
        return [self.evidence[rev] for rev in sorted(self.evidence, key=int)]


@dataclass(frozen=True, slots=True)
class VoteSource:
    """What a vote rests on."""

    # The rule behind it; "" for somebody's own judgement.
    provenance: str
    # Id of the session that it was taken over from; "" for a vote of the session itself.
    origin: str


@dataclass(frozen=True, slots=True)
class LabelLog:
    """What a session's log tells beyond the labels in force."""

    last_event_id: str
    # Rows that queries asked about, in the order of the queries.
    query_rows: list[int]
    # Row -> labeler -> what the vote rests on. Rows in the order of their first votes.
    sources: dict[int, dict[str, VoteSource]]


class Workspace:
    """Reads and commits for one worker process."""

    def __init__(self, client: Redis, rows: RowCache | None = None) -> None:
        """``rows`` holds copies of datasets that are in the dataset store."""
        self._client = client
        self._rows = rows
        self._call = Scripts(client)
        self._evidence = EvidenceReader(client)
        # (dataset, row) -> observation id, which never changes.
        self._ids: dict[tuple[str, int], str] = {}

    def dataset(self, claim: Claim) -> tuple[dataset_pb2.Dataset, NDArray[np.float64]]:
        """Description and raw rows (N, M) of the job's dataset.

        Raises NotFound, and Damaged (``DATASET_DAMAGED``).
        """
        base = f"{claim.prefix}d:{claim.dataset_id}"
        with redis_faults():
            record, chunks, stored = self._client.hmget(base, "record", "chunks", "stored")
            if record is None:
                raise NotFound(
                    "DATASET_NOT_FOUND",
                    f"Dataset {claim.dataset_id} was deleted.",
                    dataset=claim.dataset_id,
                )
            description = dataset_pb2.Dataset.FromString(record)
            shape = (description.observation_count, description.feature_count)
            if stored is not None:
                dataset_id = DatasetId(claim.dataset_id)
                if self._rows is None:
                    raise store_not_set(dataset_id)
                where = jobs_pb2.StoredRows.FromString(stored)
                return description, self._rows.matrix(dataset_id, where, shape)
            data = bytearray()
            for index in range(int(chunks)):
                data += self._client.get(f"{base}:x:{index}") or b""
        return description, np.frombuffer(data, dtype="<f8").reshape(shape)

    def datasets_exist(self, datasets: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether each of these datasets, given with the prefix of its keys, is still there."""
        with redis_faults(), self._client.pipeline(transaction=False) as pipe:
            for prefix, dataset_id in datasets:
                pipe.hexists(f"{prefix}d:{dataset_id}", "record")
            return [bool(found) for found in pipe.execute()]

    def preparation(
        self, claim: Claim, k: int, gamma_bounds: tuple[float, float] | None, *, panel: bool
    ) -> dict[str, NDArray[Any]]:
        """Arrays that PREPARE stored for locality k over a range of gamma. Raises NotFound.

        ``panel``: those of the panel's rows alone.
        """
        name = keys.preparation_name(k, gamma_bounds, panel=panel)
        base = f"{claim.prefix}d:{claim.dataset_id}"
        return self._arrays(claim, (base, f"prepchunks:{name}"), f"{base}:prep:{name}")

    def _arrays(self, claim: Claim, count: tuple[str, str], chunks: str) -> dict[str, NDArray[Any]]:
        with redis_faults():
            known = self._client.hget(*count)
            if known is None:
                raise NotFound(
                    "DATASET_NOT_FOUND",
                    f"Dataset {claim.dataset_id} was deleted, or its {count[1]} is missing.",
                    dataset=claim.dataset_id,
                )
            data = bytearray()
            for index in range(int(known)):
                data += self._client.get(f"{chunks}:{index}") or b""
        return codec.unpack_arrays(bytes(data))

    def _put_arrays(self, claim: Claim, part: str, arrays: Mapping[str, NDArray[Any]]) -> int:
        """Store arrays in chunks that expire unless a commit keeps them; how many."""
        base = f"{claim.prefix}d:{claim.dataset_id}:{part}"
        count = 0
        with redis_faults():
            for count, piece in enumerate(codec.split(codec.pack_arrays(arrays)), start=1):
                self._client.set(f"{base}:{count - 1}", piece, ex=UPLOAD_TTL_S)
        return count

    def snapshot(self, claim: Claim) -> Snapshot | None:
        """The job's session and its labels; None where it was deleted."""
        base = f"{claim.prefix}s:{claim.session_id}"
        pipe = self._client.pipeline(transaction=True)
        pipe.hgetall(base)
        pipe.hgetall(f"{base}:labels")
        pipe.smembers(f"{base}:dropped")
        pipe.hkeys(f"{base}:asked")
        pipe.hgetall(f"{base}:votes")
        pipe.smembers(f"{base}:withdrawn")
        pipe.scard(f"{base}:awaiting")
        pipe.xrevrange(f"{base}:events", count=1)
        window = self._evidence.request(pipe, f"{base}:history")
        with redis_faults():
            fields, labels, dropped, asked, votes, withdrawn, awaiting, last, *evidence = (
                pipe.execute()
            )
            if not fields:
                return None
            history = self._evidence.evidence(f"{base}:history", window, *evidence)
            next_controls = self._next_controls(base) if b"control_share" in fields else ()
        session = codec.session_from_fields(fields, len(asked), awaiting)
        in_force, confidences, decided_by = _votes_in_force(votes, withdrawn)
        verdicts = {int(row): tuple(map(int, value.split())) for row, value in labels.items()}
        return Snapshot(
            session=session,
            rev=int(fields[b"rev"]),
            attempt=int(fields[b"attempt"]),
            labels={row: verdict for row, (verdict, _) in verdicts.items() if verdict != 0},
            asked_by={row: query for row, (verdict, query) in verdicts.items() if verdict != 0},
            dropped=frozenset(
                {row for row, (verdict, _) in verdicts.items() if verdict == 0}
                | set(map(int, dropped))
            ),
            open_rows=frozenset(map(int, asked)) - verdicts.keys(),
            estimating_ms=int(fields.get(b"estimating_ms", 0)),
            prep_k=preparation_k(session.config.k, session.observation_count),
            initial_rows=codec.initial_rows(fields),
            answered_rows=codec.answered_rows(fields),
            control_rows=frozenset(codec.controls(fields)),
            next_controls=next_controls,
            atlas_ready=fields[b"atlas_done"] == fields[b"atlas_parts"],
            votes=in_force,
            confidences=confidences,
            decided_by=decided_by,
            moment=last[0][0].decode() if last else "",
            evidence=history,
            pictured=int(fields.get(b"pictured", -1)),
        )

    def _next_controls(self, base: str) -> tuple[int, ...]:
        """The control items that labelers may get before the next ranking, a new one included."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.lrange(f"{base}:controls", 0, -1)
            pipe.hvals(f"{base}:labelers")
            controls, labelers = pipe.execute()
        had = {0} | {json.loads(text).get("controls", 0) for text in labelers}
        places = dict.fromkeys(
            start + ahead for ahead in range(_CONTROLS_AHEAD) for start in sorted(had)
        )
        rows = [int(controls[place]) for place in places if place < len(controls)]
        return tuple(rows[:_MOST_CONTROLS_AHEAD])

    def label_log(self, claim: Claim) -> LabelLog:
        """The log of the job's session."""
        with redis_faults():
            events = self._client.xrange(f"{claim.prefix}s:{claim.session_id}:events")
        sources: dict[int, dict[str, VoteSource]] = {}
        asked: list[int] = []
        last = ""
        for event_id, fields in events:
            row, kind = int(fields[b"row"]), fields[b"kind"]
            last = event_id.decode()
            if kind == b"ASKED":
                asked.append(row)
            elif kind == b"LABELED":
                sources.setdefault(row, {})[fields[b"labeler"].decode()] = VoteSource(
                    provenance=fields.get(b"basis", b"").decode(),
                    origin=fields.get(b"origin", b"").decode(),
                )
            elif kind == b"RETRACTED":
                sources[row].pop(fields[b"labeler"].decode(), None)
                if not sources[row]:
                    del sources[row]
        return LabelLog(last, asked, sources)

    def observation_ids(self, claim: Claim, rows: Sequence[int]) -> list[str]:
        """Observation ids of rows of the job's dataset."""
        dataset_id = claim.dataset_id
        if len(self._ids) > _MOST_IDS:
            self._ids.clear()
        missing = [row for row in rows if (dataset_id, row) not in self._ids]
        if missing:
            with redis_faults():
                found = self._client.hmget(
                    f"{claim.prefix}d:{dataset_id}:ids", [str(row) for row in missing]
                )
            ids = codec.observation_ids(missing, found)
            self._ids |= {(dataset_id, row): one for row, one in zip(missing, ids, strict=True)}
        return [self._ids[dataset_id, row] for row in rows]

    def fits(self, claim: Claim) -> tuple[jobs_pb2.GridPlan, list[jobs_pb2.FitOutput]]:
        """Plan and FIT outputs, in the plan's order, of the result being computed."""
        with redis_faults():
            stored = self._client.hgetall(f"{claim.prefix}s:{claim.session_id}:fits")
        if b"plan" not in stored:
            raise NotFound("RESULT_NOT_FOUND", "The plan of this result is missing.")
        plan = jobs_pb2.GridPlan.FromString(stored[b"plan"])
        outputs = [
            jobs_pb2.FitOutput.FromString(stored[str(index).encode()])
            for index in range(len(plan.fits))
        ]
        return plan, outputs

    def has_portrait(self, claim: Claim) -> bool:
        """Whether the job's dataset has a portrait."""
        with redis_faults():
            return bool(self._client.hexists(f"{claim.prefix}d:{claim.dataset_id}", "portrait"))

    def commit_prepare(
        self,
        claim: Claim,
        arrays: Mapping[str, NDArray[Any]],
        portrait: jobs_pb2.Portrait | None = None,
    ) -> None:
        """Store a preparation, and a portrait where it is new; the sessions begin that wait."""
        name = _preparation_name(claim)
        count = self._put_arrays(claim, f"prep:{name}", arrays)
        pieces = self._put_portrait(claim, portrait)
        self._commit("commit_prepare", claim, chunks=count, portrait=pieces)

    def _put_portrait(self, claim: Claim, portrait: jobs_pb2.Portrait | None) -> int:
        """Store a portrait, which a commit is to keep; the number of its chunks."""
        pieces = list(codec.split(portrait.SerializeToString())) if portrait else []
        with redis_faults():
            for index, piece in enumerate(pieces):
                # (What another worker has stored meanwhile is the same, and stays.)
                self._client.set(
                    f"{claim.prefix}d:{claim.dataset_id}:portrait:{index}",
                    piece,
                    ex=UPLOAD_TTL_S,
                    nx=True,
                )
        return len(pieces)

    def commit_part(self, claim: Claim, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store a part of a preparation and add the job of the next one."""
        name, part = _preparation_name(claim), claim.job.prepare.part
        following = jobs_pb2.Job()
        following.CopyFrom(claim.job)
        following.prepare.part = part + 1
        count = self._put_arrays(claim, f"prep:{name}:part:{part}", arrays)
        self._commit(
            "commit_part",
            claim,
            index=part,
            chunks=count,
            following=following.SerializeToString(),
        )

    def prepared_part(self, claim: Claim, part: int) -> dict[str, NDArray[Any]]:
        """Arrays of a stored part of the job's preparation. Raises NotFound."""
        name, base = _preparation_name(claim), f"{claim.prefix}d:{claim.dataset_id}"
        return self._arrays(
            claim, (base, f"preppart:{name}:{part}"), f"{base}:prep:{name}:part:{part}"
        )

    def commit_nothing(self, claim: Claim) -> None:
        """End a job that nobody needs any more."""
        self._commit("drop_job", claim)

    def atlas_is_wanted(self, claim: Claim) -> bool:
        """Whether a session still needs the atlas that the job makes a part of."""
        name = keys.range_name(codec.gamma_bounds(claim.job.atlas))
        with redis_faults():
            users = self._client.scard(f"{_atlas_key(claim, name)}:users")
        return int(users) > 0

    def atlas_parts(
        self, claim: Claim, gamma_bounds: tuple[float, float] | None
    ) -> list[dict[str, NDArray[Any]]]:
        """The parts of the complete atlas over a range of gamma, in order. Raises NotFound."""
        base = _atlas_key(claim, keys.range_name(gamma_bounds))
        with redis_faults():
            count = int(self._client.hget(base, "parts") or 0)
        return [
            self._arrays(claim, (base, f"part:{index}"), f"{base}:{index}")
            for index in range(count)
        ]

    def commit_atlas(self, claim: Claim, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store a part of an atlas; with the last one the sessions begin that wait for it."""
        name = keys.range_name(codec.gamma_bounds(claim.job.atlas))
        index = claim.job.atlas.index
        count = self._put_arrays(claim, f"atlas:{name}:{index}", arrays)
        self._commit("commit_atlas", claim, chunks=count)

    def commit_suggest(
        self,
        claim: Claim,
        snapshot: Snapshot,
        *,
        gamma: float,
        alignment: float | None,
        ranking: Sequence[RankedRow],
        controls: Sequence[RankedRow] = (),
        scaling: dataset_pb2.ScalingKind = dataset_pb2.SCALING_KIND_NONE,
        live: tuning_pb2.LiveEvidence | None = None,
        pictures: Mapping[str, Message] | None = None,
        finish: bool = False,
    ) -> bool:
        """Store the ranking made for a snapshot; False where labels came meanwhile and it is made
        anew.

        ``controls`` are the control items that labelers may get next, with what they are shown.
        ``scaling`` is what gamma belongs to. ``pictures`` are the messages of cells and places, by
        these names, that are made anew. With ``finish`` the session asks no more and its
        result is computed.
        """
        counts = snapshot.session.counts
        point = tuning_pb2.HistoryPoint(
            labels=counts.total,
            counts=codec.counts_to_proto(counts),
            gamma=gamma,
            scaling=scaling,
            alignment=alignment,
        )
        reply = self._commit(
            "commit_suggest",
            claim,
            rev=snapshot.rev,
            moment=snapshot.moment,
            queries=snapshot.session.query_count,
            gamma=float(gamma),
            scaling=int(scaling),
            alignment=float(alignment or 0.0),
            ranking=[
                (one.row, one.predicted, one.explanation.SerializeToString()) for one in ranking
            ],
            controls=[(one.row, one.explanation.SerializeToString()) for one in controls],
            c=live.c if live else 0.0,
            live=live.SerializeToString() if live else b"",
            point=point.SerializeToString(),
            pictures=_serialized(pictures),
            pictured=counts.total,
            finish=finish,
            trace=claim.trace or None,
        )
        return bool(reply["committed"])

    def commit_refine(
        self,
        claim: Claim,
        labels: int,
        comparison: result_pb2.DetectorComparison | None,
        pictures: Mapping[str, Message] | None = None,
        portrait: jobs_pb2.Portrait | None = None,
    ) -> bool:
        """Store how the detectors compare on so many labels; None where that cannot be said.

        ``pictures`` are the messages of margins and places, by these names; ``portrait`` is the
        dataset's where it has none yet.
        """
        reply = self._commit(
            "commit_refine",
            claim,
            total=labels,
            detectors=comparison.SerializeToString() if comparison else b"",
            pictures=_serialized(pictures),
            portrait=self._put_portrait(claim, portrait),
        )
        return bool(reply["committed"])

    def commit_preview(self, claim: Claim, preview: jobs_pb2.Preview) -> None:
        """Store what the service asked to see."""
        self._commit(
            "commit_preview",
            claim,
            preview_id=claim.job.preview.preview_id,
            preview=preview.SerializeToString(),
        )

    def commit_plan(
        self, claim: Claim, attempt: int, plan: jobs_pb2.GridPlan, fits: Sequence[jobs_pb2.Job]
    ) -> bool:
        """Store the plan of a result and add its FIT jobs."""
        reply = self._commit(
            "commit_plan",
            claim,
            attempt=attempt,
            plan=plan.SerializeToString(),
            fits=[job.SerializeToString() for job in fits],
        )
        return bool(reply["committed"])

    def rules(self, claim: Claim) -> dict[str, jobs_pb2.FitOutput]:
        """What the label-free rules evaluated so far say of the job's dataset."""
        with redis_faults():
            stored = self._client.hgetall(f"{claim.prefix}d:{claim.dataset_id}:rules")
        return {
            name.decode(): jobs_pb2.FitOutput.FromString(output) for name, output in stored.items()
        }

    def commit_fit(self, claim: Claim, attempt: int, output: jobs_pb2.FitOutput) -> bool:
        """Store fitted cells; with the last ones of a plan the ESTIMATE job is added."""
        reply = self._commit(
            "commit_fit",
            claim,
            attempt=attempt,
            index=claim.job.fit.index,
            output=output.SerializeToString(),
            rule=claim.job.fit.rule,
        )
        return bool(reply["committed"])

    def commit_estimate(
        self,
        claim: Claim,
        attempt: int,
        result: result_pb2.TuningResult,
        alignment: float,
        model: Sequence[tuning_pb2.ExportModelResponse],
        *,
        point: tuning_pb2.HistoryPoint | None = None,
        pictures: Mapping[str, Message] | None = None,
        portrait: jobs_pb2.Portrait | None = None,
    ) -> bool:
        """Store a result with its model: the session is complete.

        ``point`` ends its history; ``pictures`` are the messages of cells, places and margins, by
        these names; ``portrait`` is the dataset's where it has none yet.
        """
        reply = self._commit(
            "commit_estimate",
            claim,
            attempt=attempt,
            gamma=result.gamma,
            scaling=int(result.scaling),
            alignment=float(alignment),
            result=result.SerializeToString(),
            model=[piece.SerializeToString() for piece in model],
            point=point.SerializeToString() if point else b"",
            pictures=_serialized(pictures),
            portrait=self._put_portrait(claim, portrait),
        )
        return bool(reply["committed"])

    def _commit(self, script: str, claim: Claim, **arguments: object) -> dict[str, Any]:
        return self._call(script, claim.prefix, claim=claim.token, **arguments)


def _atlas_key(claim: Claim, range_name: str) -> str:
    return f"{claim.prefix}d:{claim.dataset_id}:atlas:{range_name}"


def _serialized(pictures: Mapping[str, Message] | None) -> dict[str, bytes]:
    return {name: message.SerializeToString() for name, message in (pictures or {}).items()}


def _votes_in_force(
    stored: Mapping[bytes, bytes], withdrawn: Collection[bytes]
) -> tuple[dict[int, dict[str, int]], dict[int, dict[str, float]], dict[int, str]]:
    """Verdicts and confidences of the votes that count, by row and labeler; who decided, by row."""
    void = {labeler.decode() for labeler in withdrawn}
    votes: dict[int, dict[str, int]] = {}
    confidences: dict[int, dict[str, float]] = {}
    decided_by: dict[int, str] = {}
    for row, text in stored.items():
        for labeler, verdict, confidence, decides in codec.votes_from_json(text):
            if labeler in void:
                continue
            votes.setdefault(int(row), {})[labeler] = verdict
            if confidence is not None:
                confidences.setdefault(int(row), {})[labeler] = confidence
            if decides:
                decided_by[int(row)] = labeler
    return votes, confidences, decided_by


def _preparation_name(claim: Claim) -> str:
    job = claim.job.prepare
    return keys.preparation_name(job.k, codec.gamma_bounds(job), panel=job.panel)
