"""SessionStore: everything the service does with sessions. One script per change, one call each."""

import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from svddtune.config import SessionConfig, completed
from svddtune.state import codec, keys
from svddtune.state.calls import AsyncScripts, refusal
from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import NotFound
from svddtune.state.faults import store_call
from svddtune.state.jobs import session_jobs
from svddtune.state.session import (
    Answer,
    BatchReceipt,
    DatasetId,
    InitialLabel,
    LabelCounts,
    LabelEvent,
    Lease,
    LeaseOutcome,
    LeaseRequest,
    Receipt,
    ServeOrder,
    Session,
    SessionId,
    SessionState,
    SkipMode,
    TakenLabels,
    Verdict,
    WithdrawalEffect,
    atlas_parts,
)
from svddtune.v1 import dataset_pb2, jobs_pb2

# Requests that made a session are known for a day.
_REQUEST_TTL_S = 86_400
# Sessions that are read in one round trip.
_SESSIONS_AT_ONCE = 100


def _fingerprint(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _fingerprint_of(answer: Answer) -> str:
    """What two answers with one id must have in common."""
    parts: list[object] = [answer.labeler, answer.query, answer.row, int(answer.verdict)]
    parts.append(answer.replace)
    if answer.confidence is not None:
        parts.append(answer.confidence)
    return _fingerprint("answer", *parts)


def _request_map(request: LeaseRequest) -> dict[str, object]:
    # (Without ``asdict``, which copies every value and is slow for something so frequent.)
    return {name: getattr(request, name) for name in LeaseRequest.__slots__}


class SessionStore:
    """Sessions in Redis. A lost reply is asked for again, and no call acts twice.

    All methods end within five seconds. They raise ``StoreUnavailable`` where Redis is away or
    full, and ``NotFound`` (``SESSION_NOT_FOUND``) for an unknown session.
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
        scaling: dataset_pb2.ScalingKind = dataset_pb2.SCALING_KIND_NONE,
        display_name: str = "",
        initial: Sequence[InitialLabel] = (),
        labeler: str = "initial",
        request_id: str = "",
        source: str = "",
        take: Callable[[], Awaitable[TakenLabels]] | None = None,
    ) -> SessionId:
        """Store a session and set it going; atomic. With a request id seen before, the same one.

        ``observation_count`` and ``scaling`` are the dataset's. Defaults that depend on the dataset
        are put into the session's settings. ``take`` returns labels of another session, named by
        ``source``, to begin with besides ``initial``. It is not called for a request id seen
        before: labels there may have changed since.

        Raises NotFound (``DATASET_NOT_FOUND``), InvalidInput (``REQUEST_ID_REUSED``), and what
        ``take`` raises.
        """
        config = completed(config, observation_count)
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        given = [
            [one.row, int(one.verdict), one.source_reference, one.confidence] for one in initial
        ]
        fingerprint = _fingerprint(
            dataset_id, codec.session_record(display_name, config).hex(), given, labeler, source
        )
        taken = None
        if take is not None and not await self._request_seen(partition, request_id):
            taken = await take()
        labels = taken.labels if taken else ()
        session_id = keys.new_session_id(partition)
        jobs = session_jobs(
            session_id,
            dataset_id,
            config,
            observation_count=observation_count,
            atlas_parts=atlas_parts(scaling),
        )
        record = codec.session_record(display_name, config, (one.row for one in initial), taken)
        reply = await self._call(
            "create_session",
            keys.prefix(partition),
            session=session_id,
            dataset=dataset_id,
            record=record,
            settings={
                "budget": config.budget,
                "lease_ms": round(config.lease_s * 1000),
                "overlap": config.overlap,
                "overlap_rule": config.overlap_rule,
                "overlap_limit": config.overlap_limit,
                "repeat_every": config.repeat_every,
                "priority": config.priority,
                "needs_atlas": int(config.needs_atlas),
            },
            preparation=jobs.preparation,
            range=jobs.range,
            secret=secrets.token_hex(16),
            initial=[
                *((one.row, [_initial_vote(labeler, one)]) for one in initial),
                *((one.row, list(map(_taken_vote, one.votes))) for one in labels),
            ],
            jobs={
                "prepare": jobs.prepare,
                "suggest": jobs.suggest,
                "refine": jobs.refine,
                "plan": jobs.plan,
                "estimate": jobs.estimate,
            },
            atlas_jobs=jobs.atlas,
            request_id=request_id,
            request_ttl_s=_REQUEST_TTL_S,
            fingerprint=fingerprint,
        )
        return SessionId(reply["session"])

    async def _request_seen(self, partition: int, request_id: str) -> bool:
        """Whether a request with this id has made a session; it is then known for another day."""
        if not request_id:
            return False
        async with store_call():
            key = f"{keys.prefix(partition)}request:{request_id}"
            return bool(await self._client.expire(key, _REQUEST_TTL_S))

    async def get(self, session_id: SessionId) -> Session:
        """The session now."""
        return (await self._get_many([session_id], missing_ok=False))[0]

    async def attended(self, session_id: SessionId) -> bool:
        """Whether some worker serves the session's partition. Raises StoreUnavailable."""
        prefix = keys.prefix(keys.partition_of_session(session_id))
        async with store_call():
            return bool(await self._client.exists(prefix + "q:attended"))

    async def _get_many(
        self, session_ids: Sequence[SessionId], *, missing_ok: bool
    ) -> list[Session]:
        reads = [
            read
            for session_id in session_ids
            for read in (
                ("HGETALL", keys.session(session_id)),
                ("ZCARD", keys.session(session_id, "leases")),
                ("SCARD", keys.session(session_id, "awaiting")),
                ("ZCARD", keys.session(session_id, "waiting")),
            )
        ]
        async with store_call():
            replies = await self._client.together(reads)
        found = []
        for index, session_id in enumerate(session_ids):
            fields, *counts = replies[4 * index : 4 * index + 4]
            if fields:
                found.append(codec.session_from_fields(fields, *counts))
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
        sessions: list[Session] = []
        # (A session's record is large where it began with many labels.)
        for start in range(0, len(wanted), _SESSIONS_AT_ONCE):
            batch = wanted[start : start + _SESSIONS_AT_ONCE]
            sessions += await self._get_many(batch, missing_ok=True)
        return sessions

    async def labeling(self) -> dict[SessionId, ServeOrder]:
        """All sessions that ask now."""
        found = {}
        for partition in range(self._partitions):
            async with store_call():
                stored = await self._client.hgetall(keys.prefix(partition) + "labeling")
            for name, serve_order in stored.items():
                priority, created_ms = serve_order.split()
                found[SessionId(name.decode())] = ServeOrder(int(priority), int(created_ms))
        return found

    async def lease(
        self, session_id: SessionId, request: LeaseRequest, *, waits: bool = False
    ) -> LeaseOutcome:
        """Hand queries to a holder until it has ``most``; atomic.

        What the holder had before is part of the outcome, so a lost reply loses no query. One that
        ``waits`` gets the rest as soon as there is something to ask, and a notice that says so.
        """
        reply = await self._session_call(
            "lease", session_id, request=_request_map(request), waits=waits
        )
        return LeaseOutcome(
            state=SessionState(reply["state"]),
            finish_reason=reply["finish_reason"],
            leases=tuple(Lease(**one) for one in reply["leases"]),
            now_ms=reply["now_ms"],
            lease_s=reply["lease_ms"] / 1000,
            withdrawn=reply["withdrawn"],
        )

    async def explanations(self, session_id: SessionId, queries: Sequence[int]) -> list[bytes]:
        """Serialized Explanations of queries; empty where a query has none."""
        async with store_call():
            found = await self._client.hmget(
                keys.session(session_id, "explanations"), [str(query) for query in queries]
            )
        return [one or b"" for one in found]

    async def expire(self, session_id: SessionId) -> float | None:
        """End the leases that have run out; seconds until the next one does."""
        reply = await self._session_call("expire", session_id)
        return reply["expires_in_ms"] / 1000 if reply else None

    async def park(self, session_id: SessionId, holder: str) -> None:
        """Give a holder nothing new until it asks; it keeps its leases."""
        await self._session_call("park", session_id, holder=holder)

    async def answer(
        self, session_id: SessionId, answer: Answer, *, then: LeaseRequest | None = None
    ) -> Receipt:
        """Store a verdict; atomic, idempotent by answer id.

        With ``then`` its holder gets new queries as soon as the next ranking is there.

        Raises InvalidInput (``ANSWER_ID_REUSED``, ``OBSERVATION_MISMATCH``), NotFound
        (``UNKNOWN_QUERY``), WrongState (``LEASE_LOST``, ``SESSION_NOT_ACTIVE``,
        ``LABELER_WITHDRAWN``), Conflict (``ALREADY_ANSWERED``).
        """
        reply = await self._session_call(
            "answer",
            session_id,
            answer_id=answer.answer_id,
            fingerprint=_fingerprint_of(answer),
            labeler=answer.labeler,
            holder=answer.holder,
            query=answer.query,
            lease_id=answer.lease_id,
            row=answer.row,
            verdict=int(answer.verdict),
            source=answer.source_reference,
            provenance=answer.provenance,
            confidence=codec.confidence_to_text(answer.confidence),
            replace=answer.replace,
            next_request=_request_map(then) if then else None,
        )
        return _receipt(reply)

    async def answer_batch(
        self,
        session_id: SessionId,
        answers: Sequence[Answer],
        *,
        labeler: str,
        holder: str,
        hold_s: float = 0.0,
    ) -> BatchReceipt:
        """Store unasked verdicts of one labeler, or none; atomic, idempotent by answer ids.

        With ``hold_s`` the next ranking waits for a further batch, so many seconds at most. The
        answers are refused one by one, with the errors of ``answer``. Raises NotFound
        (``SESSION_NOT_FOUND``).
        """
        reply = await self._session_call(
            "answer_batch",
            session_id,
            answers=[
                {
                    "answer_id": one.answer_id,
                    "fingerprint": _fingerprint_of(one),
                    "row": one.row,
                    "verdict": int(one.verdict),
                    "source": one.source_reference,
                    "provenance": one.provenance,
                    "confidence": codec.confidence_to_text(one.confidence),
                    "replace": one.replace,
                }
                for one in answers
            ],
            labeler=labeler,
            holder=holder,
            hold_ms=round(1000 * hold_s),
        )
        refused = {}
        for one in reply["refused"]:
            place, reason = one.pop("index"), one.pop("error")
            given = {"session": session_id, "labeler": labeler}
            refused[place] = refusal(reason, one, given | {"answer_id": answers[place].answer_id})
        return BatchReceipt(reply["applied"], LabelCounts(**reply["counts"]), refused)

    async def retract(
        self, session_id: SessionId, *, answer_id: str, labeler: str, row: int, of: str = ""
    ) -> Receipt:
        """Withdraw a vote on a row, the labeler's own or that ``of`` another; atomic, idempotent by
        answer id.

        Raises InvalidInput (``ANSWER_ID_REUSED``), WrongState (``NOT_LABELED``,
        ``SESSION_NOT_ACTIVE``).
        """
        reply = await self._session_call(
            "retract",
            session_id,
            answer_id=answer_id,
            fingerprint=_fingerprint("retract", of or labeler, row),
            labeler=of or labeler,
            row=row,
            speaker=labeler,
        )
        return _receipt(reply)

    async def skip(
        self,
        session_id: SessionId,
        *,
        labeler: str,
        holder: str,
        query: int,
        lease_id: str,
        mode: SkipMode,
        then: LeaseRequest | None = None,
    ) -> Receipt:
        """Pass on a leased query; ``then`` as in ``answer``.

        Raises NotFound (``UNKNOWN_QUERY``), WrongState (``LEASE_LOST``).
        """
        reply = await self._session_call(
            "skip",
            session_id,
            labeler=labeler,
            holder=holder,
            query=query,
            lease_id=lease_id,
            mode=mode.value,
            next_request=_request_map(then) if then else None,
        )
        return _receipt(reply)

    async def extend(
        self, session_id: SessionId, *, holder: str, labeler: str, lease_ids: Sequence[str] = ()
    ) -> Receipt:
        """Extend the holder's leases, all or those named; the receipt lists the lost ones."""
        reply = await self._session_call(
            "extend", session_id, holder=holder, labeler=labeler, lease_ids=tuple(lease_ids)
        )
        return Receipt(
            applied=reply["applied"],
            expires_ms=reply["expires_ms"],
            lost=tuple(reply["lost"]),
        )

    async def release(
        self, session_id: SessionId, *, holder: str, lease_ids: Sequence[str] = ()
    ) -> Receipt:
        """Give the holder's queries back, all or those named; the receipt lists the lost ones."""
        reply = await self._session_call(
            "release", session_id, holder=holder, lease_ids=tuple(lease_ids)
        )
        return Receipt(applied=reply["applied"], lost=tuple(reply["lost"]))

    async def pause(self, session_id: SessionId) -> None:
        """LABELING -> PAUSED. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._session_call("move", session_id, verb="pause")

    async def resume(self, session_id: SessionId) -> None:
        """PAUSED -> LABELING; COMPLETED or FAILED -> PREPARING, and on where all is there.

        Raises WrongState (``ILLEGAL_TRANSITION``, ``BUDGET_SPENT``).
        """
        await self._session_call("move", session_id, verb="resume")

    async def finish(self, session_id: SessionId) -> None:
        """LABELING or PAUSED -> ESTIMATING. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._session_call("move", session_id, verb="finish")

    async def cancel(self, session_id: SessionId) -> None:
        """Any but the ended states -> CANCELLED. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._session_call("move", session_id, verb="cancel")

    async def set_budget(self, session_id: SessionId, budget: int) -> None:
        """Change the budget; the session moves on where that spends or frees it.

        Raises InvalidInput (``BUDGET_TOO_LARGE``, ``BUDGET_TOO_SMALL``), WrongState
        (``SESSION_NOT_ACTIVE``).
        """
        await self._session_call("set_budget", session_id, budget=budget)

    async def set_priority(self, session_id: SessionId, priority: int) -> None:
        """Change when the session is served among those of one labeler."""
        await self._session_call("set_priority", session_id, priority=priority)

    async def withdraw(self, session_id: SessionId, labeler: str, *, by: str) -> WithdrawalEffect:
        """Make all votes of a labeler void.

        Raises NotFound (``UNKNOWN_LABELER``), WrongState (``SESSION_NOT_ACTIVE``).
        """
        return await self._withdraw(session_id, labeler, "withdraw", by=by)

    async def reinstate(self, session_id: SessionId, labeler: str, *, by: str) -> WithdrawalEffect:
        """Let a labeler's votes count again; errors as in ``withdraw``."""
        return await self._withdraw(session_id, labeler, "reinstate", by=by)

    async def preview_withdrawal(
        self, session_id: SessionId, labeler: str, preview_id: str
    ) -> WithdrawalEffect:
        """What ``withdraw`` would do; workers compute the rest, see ``preview``."""
        job = jobs_pb2.Job(
            preview=jobs_pb2.PreviewJob(
                session_id=session_id, labeler=labeler, preview_id=preview_id
            )
        )
        return await self._withdraw(
            session_id, labeler, "preview", preview_job=job.SerializeToString()
        )

    async def preview(self, session_id: SessionId, preview_id: str) -> jobs_pb2.Preview | None:
        """A preview, once it is computed."""
        async with store_call():
            data = await self._client.get(keys.session(session_id, f"preview:{preview_id}"))
        return None if data is None else jobs_pb2.Preview.FromString(data)

    async def _withdraw(
        self,
        session_id: SessionId,
        labeler: str,
        verb: str,
        *,
        by: str = "",
        preview_job: bytes | None = None,
    ) -> WithdrawalEffect:
        reply = await self._session_call(
            "withdraw",
            session_id,
            labeler=labeler,
            verb=verb,
            speaker=by,
            preview_job=preview_job,
        )
        return WithdrawalEffect(
            votes=reply["votes"],
            labels_lost=reply["lost"],
            labels_changed=reply["changed"],
            labels_gained=reply["gained"],
            queries_reopened=reply["reopened"],
            before=LabelCounts(**reply["before"]),
            after=LabelCounts(**reply["after"]),
        )

    async def withdrawn(self, session_id: SessionId) -> frozenset[str]:
        """Labelers whose votes are void."""
        async with store_call():
            names = await self._client.smembers(keys.session(session_id, "withdrawn"))
        return frozenset(name.decode() for name in names)

    async def delete(self, session_id: SessionId) -> None:
        """Delete the session with its labels and results."""
        await self._session_call("delete_session", session_id)

    async def label_events(
        self, session_id: SessionId, *, after: str = "", limit: int = 1000
    ) -> list[LabelEvent]:
        """Label events after an event id, oldest first."""
        events: list[LabelEvent] = []
        start = f"({after}" if after else "-"
        async with store_call():
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

    async def known_rows(self, session_id: SessionId) -> frozenset[int]:
        """Rows whose labels were known, and are taken as true, when the session was created."""
        async with store_call():
            record = await self._client.hget(keys.session(session_id), "record")
        fields = {b"record": record or b""}
        return codec.initial_rows(fields) - codec.answered_rows(fields)

    async def result(self, session_id: SessionId, revision: int | None = None) -> bytes:
        """A stored Result message, the latest by default.

        Raises NotFound (``RESULT_NOT_FOUND``).
        """
        number = await self._revision(session_id, revision)
        async with store_call():
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
        async with store_call():
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
        self, script: str, session_id: SessionId, **arguments: object
    ) -> dict[str, Any]:
        prefix = keys.prefix(keys.partition_of_session(session_id))
        return await self._call(script, prefix, session=session_id, **arguments)


async def newest(
    client: AsyncRedis, key: str, limit: int, before: tuple[int, str] | None
) -> list[tuple[int, str]]:
    """Newest entries of a zset by (score, member), strictly before one of them."""
    top = "+inf" if before is None else str(before[0])
    found: list[tuple[int, str]] = []
    offset = 0
    async with store_call():
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
        f"Session {session_id} has no result {revision or 'yet'}; finish the session first.",
        session=session_id,
        revision=revision,
    )


def _receipt(reply: dict[str, Any]) -> Receipt:
    return Receipt(
        applied=reply["applied"],
        query=reply["query"],
        counts=LabelCounts(**reply["counts"]),
        event_id=reply.get("event", ""),
    )


# A vote as create_session.lua takes it.
_Vote = tuple[str, int, str, str, str, str]


def _initial_vote(labeler: str, label: InitialLabel) -> _Vote:
    confidence = codec.confidence_to_text(label.confidence)
    return labeler, int(label.verdict), label.source_reference, "", confidence, ""


def _taken_vote(vote: LabelEvent) -> _Vote:
    return (
        vote.labeler,
        int(vote.verdict),
        vote.source_reference,
        vote.provenance,
        codec.confidence_to_text(vote.confidence),
        vote.origin,
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
        answer_s=int(fields[b"ms"]) / 1000,
        provenance=fields.get(b"basis", b"").decode(),
        confidence=codec.confidence_from_text(fields.get(b"confidence", b"").decode()),
        origin=fields.get(b"origin", b"").decode(),
    )
