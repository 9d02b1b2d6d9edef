"""SessionStore: everything the service does with sessions. One script per change, one call each."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from typing import Any

from svddtune.state import codec, keys
from svddtune.state.calls import AsyncScripts, redis_faults
from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import NotFound
from svddtune.state.session import (
    ATLAS_PARTS,
    Answer,
    DatasetId,
    InitialLabel,
    LabelEvent,
    Lease,
    LeaseOutcome,
    Receipt,
    Session,
    SessionConfig,
    SessionId,
    SessionState,
    SkipMode,
    Verdict,
)
from svddtune.v1 import jobs_pb2


def preparation_k(k: int, observation_count: int) -> int:
    """Neighbours to prepare for locality k: rounded up, so that nearby k share a preparation."""
    return min(-(-k // 8) * 8, observation_count)


def _fingerprint(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class SessionStore:
    """Sessions in Redis. Every method may be called again after a lost reply.

    All methods raise ``StoreUnavailable`` where Redis is away, and ``NotFound``
    (``SESSION_NOT_FOUND``) for an unknown session.
    """

    def __init__(self, client: AsyncRedis, *, partitions: int = 1) -> None:
        self._client = client
        self._call = AsyncScripts(client)
        self._partitions = partitions

    @property
    def partitions(self) -> int:
        """Number of partitions, fixed for the life of a deployment."""
        return self._partitions

    async def create(
        self,
        dataset_id: DatasetId,
        config: SessionConfig,
        *,
        observation_count: int,
        display_name: str = "",
        initial: Sequence[InitialLabel] = (),
        labeler: str = "initial",
        request_id: str = "",
    ) -> SessionId:
        """Store a session and set it going; atomic. With a request id seen before, the same one.

        Raises NotFound (``DATASET_NOT_FOUND``), InvalidInput (``REQUEST_ID_REUSED``).
        """
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        session_id = keys.new_session_id(partition)
        k = preparation_k(config.k, observation_count)
        labels = [[one.row, int(one.verdict), one.source_reference] for one in initial]
        record = codec.session_record(display_name, config, (one.row for one in initial))
        job = jobs_pb2.Job
        reply = await self._call(
            "create_session",
            keys.prefix(partition),
            session_id,
            dataset_id,
            record,
            config.budget,
            round(config.lease_s * 1000),
            k,
            request_id,
            _fingerprint(dataset_id, record.hex(), labels, labeler),
            json.dumps(labels),
            labeler,
            int(config.needs_atlas),
            job(prepare=jobs_pb2.PrepareJob(dataset_id=dataset_id, k=k)).SerializeToString(),
            job(suggest=jobs_pb2.SuggestJob(session_id=session_id)).SerializeToString(),
            job(plan=jobs_pb2.PlanJob(session_id=session_id)).SerializeToString(),
            job(estimate=jobs_pb2.EstimateJob(session_id=session_id)).SerializeToString(),
            *(
                job(atlas=jobs_pb2.AtlasJob(dataset_id=dataset_id, index=i)).SerializeToString()
                for i in range(ATLAS_PARTS)
            ),
            dataset=dataset_id,
            request_id=request_id,
        )
        return SessionId(reply["session"])

    async def get(self, session_id: SessionId) -> Session:
        """The session now."""
        return (await self._get_many([session_id], missing_ok=False))[0]

    async def _get_many(
        self, session_ids: Sequence[SessionId], *, missing_ok: bool
    ) -> list[Session]:
        pipe = self._client.pipeline(transaction=False)
        for session_id in session_ids:
            pipe.hgetall(keys.session(session_id))
            pipe.zcard(keys.session(session_id, "leases"))
        with redis_faults():
            replies = await pipe.execute()
        found = []
        for index, session_id in enumerate(session_ids):
            fields, leased = replies[2 * index : 2 * index + 2]
            if fields:
                found.append(codec.session_from_fields(fields, leased))
            elif not missing_ok:
                raise NotFound(
                    "SESSION_NOT_FOUND", f"There is no session {session_id}.", session=session_id
                )
        return found

    async def list_sessions(
        self, *, limit: int, before: tuple[int, str] | None = None
    ) -> list[Session]:
        """Up to ``limit`` sessions older than ``before`` (created_ms, id), newest first."""
        ids: list[tuple[int, str]] = []
        for partition in range(self._partitions):
            ids += await newest(self._client, keys.prefix(partition) + "sessions", limit, before)
        ids.sort(reverse=True)
        wanted = [SessionId(name) for _, name in ids[:limit]]
        return await self._get_many(wanted, missing_ok=True) if wanted else []

    async def lease(
        self, session_id: SessionId, *, holder: str, labeler: str, most: int
    ) -> LeaseOutcome:
        """Hand queries to a holder until it has ``most``; atomic.

        What the holder had before is part of the outcome, so a lost reply loses no query.
        """
        reply = await self._session_call(
            "lease", session_id, holder, labeler, most, secrets.token_hex(8)
        )
        leases = tuple(
            Lease(
                query=int(one["query"]),
                row=int(one["row"]),
                lease_id=one["lease"],
                expires_ms=int(one["expires"]),
                score=float(one["score"]),
                rule=one["rule"],
            )
            for one in reply["leases"] or ()
        )
        return LeaseOutcome(
            state=SessionState(reply["state"]),
            finish_reason=reply["finish_reason"],
            leases=leases,
            now_ms=int(reply["now_ms"]),
            next_expiry_ms=int(reply["next_expiry_ms"]),
            lease_s=reply["lease_ms"] / 1000,
        )

    async def answer(self, session_id: SessionId, answer: Answer, *, want: int = 0) -> Receipt:
        """Store a verdict; atomic, idempotent by answer id.

        The answer's holder gets new queries with the next ranking, until it has ``want``.

        Raises InvalidInput (``ANSWER_ID_REUSED``, ``OBSERVATION_MISMATCH``), NotFound
        (``UNKNOWN_QUERY``), WrongState (``LEASE_LOST``, ``SESSION_NOT_ACTIVE``), Conflict
        (``ALREADY_ANSWERED``).
        """
        row = -1 if answer.row is None else answer.row
        reply = await self._session_call(
            "answer",
            session_id,
            answer.answer_id,
            _fingerprint("answer", answer.labeler, answer.query, answer.row, int(answer.verdict)),
            answer.labeler,
            answer.query,
            answer.lease_id,
            row,
            int(answer.verdict),
            answer.source_reference,
            answer.holder,
            want,
            answer_id=answer.answer_id,
            query=answer.query,
            lease_id=answer.lease_id,
            observation=f"row {answer.row}",
        )
        return _receipt(reply)

    async def retract(
        self, session_id: SessionId, *, answer_id: str, labeler: str, row: int
    ) -> Receipt:
        """Withdraw a row's label; atomic, idempotent by answer id.

        Raises InvalidInput (``ANSWER_ID_REUSED``), WrongState (``NOT_LABELED``,
        ``SESSION_NOT_ACTIVE``).
        """
        reply = await self._session_call(
            "retract",
            session_id,
            answer_id,
            _fingerprint("retract", labeler, row),
            labeler,
            row,
            answer_id=answer_id,
        )
        return _receipt(reply)

    async def skip(
        self, session_id: SessionId, *, labeler: str, query: int, lease_id: str, mode: SkipMode
    ) -> Receipt:
        """Pass on a leased query.

        Raises NotFound (``UNKNOWN_QUERY``), WrongState (``LEASE_LOST``).
        """
        reply = await self._session_call(
            "skip",
            session_id,
            labeler,
            query,
            lease_id,
            mode.value,
            query=query,
            lease_id=lease_id,
        )
        return _receipt(reply)

    async def extend(
        self, session_id: SessionId, *, holder: str, lease_ids: Sequence[str] = ()
    ) -> Receipt:
        """Extend the holder's leases, all or those named; the receipt lists the lost ones."""
        reply = await self._session_call("extend", session_id, holder, json.dumps(list(lease_ids)))
        return Receipt(
            applied=reply["applied"],
            expires_ms=int(reply["expires"]),
            lost=tuple(reply["lost"] or ()),
        )

    async def release(
        self, session_id: SessionId, *, holder: str, lease_ids: Sequence[str] = ()
    ) -> Receipt:
        """Give the holder's queries back, all or those named; the receipt lists the lost ones."""
        reply = await self._session_call("release", session_id, holder, json.dumps(list(lease_ids)))
        return Receipt(applied=reply["applied"], lost=tuple(reply["lost"] or ()))

    async def pause(self, session_id: SessionId) -> None:
        """LABELING -> PAUSED. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._session_call("move", session_id, "pause", verb="pause")

    async def resume(self, session_id: SessionId) -> None:
        """PAUSED, COMPLETED or FAILED -> LABELING.

        Raises WrongState (``ILLEGAL_TRANSITION``, ``BUDGET_SPENT``).
        """
        await self._session_call("move", session_id, "resume", verb="resume")

    async def finish(self, session_id: SessionId) -> None:
        """LABELING or PAUSED -> ESTIMATING. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._session_call("move", session_id, "finish", verb="finish")

    async def cancel(self, session_id: SessionId) -> None:
        """Any but the ended states -> CANCELLED. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._session_call("move", session_id, "cancel", verb="cancel")

    async def set_budget(self, session_id: SessionId, budget: int) -> None:
        """Change the budget; the session moves on where that spends or frees it.

        Raises InvalidInput (``BUDGET_TOO_LARGE``, ``BUDGET_TOO_SMALL``), WrongState
        (``SESSION_NOT_ACTIVE``).
        """
        await self._session_call("move", session_id, "budget", budget, budget=budget)

    async def delete(self, session_id: SessionId) -> None:
        """Delete the session with its labels and results."""
        await self._session_call("delete_session", session_id)

    async def label_events(
        self, session_id: SessionId, *, after: str = "", limit: int = 1000
    ) -> list[LabelEvent]:
        """Label events after an event id, oldest first."""
        events: list[LabelEvent] = []
        start = f"({after}" if after else "-"
        with redis_faults():
            # The log also records when queries were made; those entries are passed over.
            while len(events) < limit:
                batch = await self._client.xrange(
                    keys.session(session_id, "events"), min=start, count=limit
                )
                events += [_event(key, fields) for key, fields in batch if b"verdict" in fields]
                if len(batch) < limit:
                    break
                start = f"({batch[-1][0].decode()}"
        return events[:limit]

    async def result(self, session_id: SessionId, revision: int | None = None) -> bytes:
        """A stored Result message, the latest by default.

        Raises NotFound (``RESULT_NOT_FOUND``).
        """
        number = await self._revision(session_id, revision)
        with redis_faults():
            data = await self._client.get(keys.session(session_id, f"result:{number}"))
        if data is None:
            raise _no_result(session_id, number)
        return bytes(data)

    async def model_piece(
        self, session_id: SessionId, revision: int | None, index: int
    ) -> bytes | None:
        """Piece ``index`` of a model, None past the end. Raises NotFound (``RESULT_NOT_FOUND``)."""
        number = await self._revision(session_id, revision)
        key = keys.session(session_id, f"model:{number}")
        with redis_faults():
            piece: bytes | None = await self._client.lindex(key, index)
        if piece is None and index == 0:
            raise _no_result(session_id, number)
        return piece

    async def _revision(self, session_id: SessionId, revision: int | None) -> int:
        latest = (await self.get(session_id)).revision
        number = latest if revision is None else revision
        if not 1 <= number <= latest:
            raise _no_result(session_id, number)
        return number

    async def _session_call(
        self, script: str, session_id: SessionId, *args: str | bytes | float, **context: object
    ) -> dict[str, Any]:
        prefix = keys.prefix(keys.partition_of_session(session_id))
        return await self._call(script, prefix, session_id, *args, session=session_id, **context)


async def newest(
    client: AsyncRedis, key: str, limit: int, before: tuple[int, str] | None
) -> list[tuple[int, str]]:
    """Newest entries of a zset by (score, member), strictly before one of them."""
    top = "+inf" if before is None else str(before[0])
    found: list[tuple[int, str]] = []
    offset = 0
    with redis_faults():
        while len(found) < limit:
            batch: list[tuple[bytes, float]] = await client.zrevrangebyscore(
                key, top, "-inf", start=offset, num=limit, withscores=True
            )
            offset += len(batch)
            entries = [(int(score), member.decode()) for member, score in batch]
            found += [one for one in entries if before is None or one < before]
            if len(batch) < limit:
                break
    return found[:limit]


def _no_result(session_id: SessionId, revision: int) -> NotFound:
    return NotFound(
        "RESULT_NOT_FOUND",
        f"Session {session_id} has no result {revision or 'yet'}; finish it first.",
        session=session_id,
        revision=revision,
    )


def _receipt(reply: dict[str, Any]) -> Receipt:
    return Receipt(
        applied=reply["applied"],
        query=int(reply["query"]),
        counts=codec.counts_from_json(reply["counts"]),
        event_id=reply.get("event", ""),
    )


def _event(key: bytes, fields: dict[bytes, bytes]) -> LabelEvent:
    event_id = key.decode()
    return LabelEvent(
        event_id=event_id,
        kind=fields[b"kind"].decode(),
        row=int(fields[b"row"]),
        verdict=Verdict(int(fields[b"verdict"])),
        labeler=fields[b"labeler"].decode(),
        query=int(fields[b"query"]),
        source_reference=fields[b"source"].decode(),
        answer_id=fields[b"answer_id"].decode(),
        time_ms=int(event_id.split("-")[0]),
    )
