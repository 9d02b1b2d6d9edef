"""SessionStore: everything the service does with sessions. One script per change, one call each."""

import hashlib
import json
import random
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import redis

from svddtune.config import SessionConfig, completed
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import codec, keys, projects
from svddtune.state.calls import AsyncScripts, refusal
from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import NotFound
from svddtune.state.faults import store_call
from svddtune.state.jobs import session_jobs
from svddtune.state.listing import Position, Walk
from svddtune.state.memory import Watermark
from svddtune.state.observed import observer
from svddtune.state.session import (
    Answer,
    BatchReceipt,
    ControlItem,
    DatasetId,
    InitialLabel,
    LabelCounts,
    LabelEvent,
    Lease,
    LeaseOutcome,
    LeaseRequest,
    LeasesReceipt,
    Receipt,
    Reopening,
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
from svddtune.state.usage import ProjectLimits, Usage
from svddtune.v1 import dataset_pb2
from svddtune.v1.oracle_pb2 import Explanation

# Requests that made a session are known for a day.
_REQUEST_TTL_S = 86_400
# Share of queries that are control items, where a session has some and does not say.
_CONTROL_SHARE = 0.1
# Of a query that no ranking chose.
_REOPENED = Explanation(why="Somebody wants it to be looked at again.")


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

    def __init__(
        self,
        client: AsyncRedis,
        *,
        partitions: int = 1,
        watermark: Watermark | None = None,
        limits: ProjectLimits | None = None,
        most_corrections: int = 0,
        kept_ms: int = 0,
    ) -> None:
        """No session is created above the ``watermark``, nor above a project's ``limits``.

        ``most_corrections`` of one row are taken of all labelers together; 0 for no limit.
        Sessions say that they are kept for ``kept_ms`` after their end; 0 for ever.
        """
        self._kept_ms = kept_ms
        self._most_corrections = most_corrections
        self._client = client
        self._call = AsyncScripts(client)
        self._partitions = partitions
        self._watermark = watermark or Watermark(client)
        self._usage = Usage(client, partitions=partitions, limits=limits)

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
        labels: Mapping[str, str] | None = None,
        initial: Sequence[InitialLabel] = (),
        controls: Sequence[ControlItem] = (),
        labeler: str = "initial",
        request_id: str = "",
        source: str = "",
        take: Callable[[], Awaitable[TakenLabels]] | None = None,
        retention_ms: int | None = None,
    ) -> SessionId:
        """Store a session and set it going; atomic. With a request id seen before, the same one.

        ``observation_count`` and ``scaling`` are the dataset's. Defaults that depend on the dataset
        are put into the session's settings. ``take`` returns labels of another session, named by
        ``source``, to begin with besides ``initial``. It is not called for a request id seen
        before: labels there may have changed since. ``controls`` are asked in an order drawn from
        the seed. ``retention_ms`` is as in ``Session``.

        Raises NotFound (``DATASET_NOT_FOUND``), InvalidInput (``REQUEST_ID_REUSED``), and what
        ``take`` raises; QuotaExceeded (``STORE_NEARLY_FULL``, ``QUOTA_EXCEEDED``).
        """
        config = completed(config, observation_count)
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        given = [
            [one.row, int(one.verdict), one.source_reference, one.confidence] for one in initial
        ]
        fingerprint = _fingerprint(
            dataset_id,
            codec.session_record(display_name, config).hex(),
            given,
            labeler,
            source,
            labels or {},
            # (Requests that say nothing of it have the fingerprint that earlier versions give.)
            *(() if retention_ms is None else (retention_ms,)),
            *([["control", one.row, int(one.verdict)] for one in controls]),
        )
        taken = None
        if not await self._request_seen(partition, request_id):
            await self._watermark.check()
            taken = await take() if take else None
        taken_labels = taken.labels if taken else ()
        session_id = keys.new_session_id(partition)
        jobs = session_jobs(
            session_id,
            dataset_id,
            config,
            observation_count=observation_count,
            atlas_parts=atlas_parts(scaling),
        )
        record = codec.session_record(
            display_name, config, (one.row for one in initial), taken, controls
        )
        share = config.control_share
        reply = await self._call(
            "create_session",
            keys.prefix(partition),
            session=session_id,
            dataset=dataset_id,
            project=projects.stored(),
            limits=await self._usage.limits(partition),
            record=record,
            settings={
                "budget": config.budget,
                "lease_ms": round(config.lease_seconds * 1000),
                "overlap": config.overlap,
                "overlap_rule": config.overlap_rule,
                "overlap_limit": config.overlap_limit,
                "repeat_every": config.repeat_every,
                "priority": config.priority,
                "needs_atlas": int(config.needs_atlas),
                "labels": codec.labels_to_text(labels or {}),
                **({} if retention_ms is None else {"retention_ms": retention_ms}),
                **(
                    {"adjudicators": f" {' '.join(config.adjudicators)} "}
                    if config.adjudicators
                    else {}
                ),
                **({"due_after_ms": 1000 * config.due_seconds} if config.due_seconds else {}),
                **(
                    {"required_tags": " ".join(config.required_tags)}
                    if config.required_tags
                    else {}
                ),
                **(
                    {
                        "control_share": _CONTROL_SHARE if share is None else share,
                        "control_seed": str(config.seed),
                    }
                    if controls
                    else {}
                ),
            },
            preparation=jobs.preparation,
            range=jobs.range,
            secret=secrets.token_hex(16),
            initial=[
                *((one.row, [_initial_vote(labeler, one)]) for one in initial),
                *((one.row, list(map(_taken_vote, one.votes))) for one in taken_labels),
            ],
            controls=_drawn_order(controls, config.seed),
            jobs=jobs.by_kind(),
            atlas_jobs=jobs.atlas,
            request_id=request_id,
            request_key=projects.scoped_uuid(request_id) if request_id else "",
            request_ttl_s=_REQUEST_TTL_S,
            fingerprint=fingerprint,
        )
        return SessionId(reply["session"])

    async def check_room(self) -> None:
        """Return where another session of the project could be created now.

        Raises QuotaExceeded (``STORE_NEARLY_FULL``, ``QUOTA_EXCEEDED``).
        """
        await self._watermark.check()
        await self._usage.check(sessions=1)

    async def _request_seen(self, partition: int, request_id: str) -> bool:
        """Whether a request with this id has made a session; it is then known for another day."""
        if not request_id:
            return False
        async with store_call():
            key = f"{keys.prefix(partition)}request:{projects.scoped_uuid(request_id)}"
            return bool(await self._client.expire(key, _REQUEST_TTL_S))

    async def get(self, session_id: SessionId) -> Session:
        """The session now."""
        return (await self._get_many([session_id], missing_ok=False))[0]

    async def attended(self, session_id: SessionId) -> bool:
        """Whether some worker serves the session's partition. Raises StoreUnavailable."""
        prefix = keys.prefix(keys.partition_of_session(session_id))
        async with store_call():
            return bool(await self._client.exists(prefix + "q:attended"))

    async def attended_among(self, session_ids: Iterable[SessionId]) -> frozenset[SessionId]:
        """Those of the sessions whose partition some worker serves. Raises StoreUnavailable."""
        wanted = {one: keys.partition_of_session(one) for one in session_ids}
        partitions = sorted(set(wanted.values()))
        async with store_call():
            signs = await self._client.together(
                [("EXISTS", f"{keys.prefix(one)}q:attended") for one in partitions]
            )
        attended = {one for one, sign in zip(partitions, signs, strict=True) if sign}
        return frozenset(one for one, partition in wanted.items() if partition in attended)

    async def worker_count(self) -> int:
        """Workers that gave a sign of life in the last 15 seconds. Raises StoreUnavailable."""
        prefix = keys.prefix(0)  # every worker serves all partitions
        async with store_call():
            try:
                consumers = await self._client.xinfo_consumers(prefix + "q:hi", keys.GROUP)
            except redis.exceptions.ResponseError:
                # No worker has ever come.
                return 0
            names = [f"{prefix}worker:{one['name'].decode()}" for one in consumers]
            return int(await self._client.exists(*names)) if names else 0

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
                found.append(codec.session_from_fields(fields, *counts, kept_ms=self._kept_ms))
            elif not missing_ok:
                raise NotFound(
                    "SESSION_NOT_FOUND", f"There is no session {session_id}.", session=session_id
                )
        return found

    async def list_sessions(
        self,
        *,
        limit: int,
        before: Position | None = None,
        accept: Callable[[Session], bool] = lambda session: True,
    ) -> tuple[list[Session], Position | None]:
        """Sessions of the project older than ``before`` (created_ms, id), newest first, and where
        to go on.

        Up to ``limit`` of those that are accepted; fewer if many are not, so that a call reads no
        more than ``listing.MOST_EXAMINED``. The second value is None if there is nothing more.
        """
        sessions: list[Session] = []
        walk = Walk(self._client, self._partitions, "sessions", before)
        project = projects.current()
        async for batch in walk.batches(limit):
            wanted = [SessionId(name) for _, name in batch]
            for one in await self._get_many(wanted, missing_ok=True) if wanted else []:
                if len(sessions) == limit:
                    return sessions, walk.next
                walk.pass_by((one.created_ms, one.id), own=one.project == project)
                if one.project == project and accept(one):
                    sessions.append(one)
            # (Those at the end may have been deleted meanwhile.)
            if batch and batch[-1] != walk.position:
                walk.pass_by(batch[-1], own=False)
            if len(sessions) == limit:
                break
        return sessions, None if walk.ended else walk.next

    async def labeling(self, project: str | None = None) -> dict[SessionId, ServeOrder]:
        """The sessions that ask now, of one project or of all."""
        found = {}
        for partition in range(self._partitions):
            async with store_call():
                stored = await self._client.hgetall(keys.prefix(partition) + "labeling")
            for name, serve_order in stored.items():
                priority, created_ms, *named = serve_order.split()
                if project not in (None, named[0].decode() if named else projects.DEFAULT):
                    continue
                due_ms = int(named[1]) if named[1:] else None
                order = ServeOrder(int(priority), int(created_ms), due_ms)
                found[SessionId(name.decode())] = order
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
        observer().leases_expired(reply["expired"])
        return LeaseOutcome(
            state=SessionState(reply["state"]),
            finish_reason=reply["finish_reason"],
            leases=tuple(Lease(**one) for one in reply["leases"]),
            now_ms=reply["now_ms"],
            lease_seconds=reply["lease_ms"] / 1000,
            withdrawn=reply["withdrawn"],
            lacks_tags=reply["lacks_tags"],
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
        observer().leases_expired(reply["expired"])
        due_ms = reply.get("expires_in_ms")
        return due_ms / 1000 if due_ms is not None else None

    async def park(self, session_id: SessionId, holder: str) -> None:
        """Give a holder nothing new until it asks; it keeps its leases."""
        await self._session_call("park", session_id, holder=holder)

    async def answer(
        self,
        session_id: SessionId,
        answer: Answer,
        *,
        then: LeaseRequest | None = None,
        trace: str = "",
    ) -> Receipt:
        """Store a verdict; atomic, idempotent by answer id.

        With ``then`` its holder gets new queries as soon as the next ranking is there. ``trace``
        is the ``traceparent`` of the span that this ranking follows from.

        Raises InvalidInput (``ANSWER_ID_REUSED``, ``OBSERVATION_MISMATCH``), NotFound
        (``UNKNOWN_QUERY``), WrongState (``LEASE_LOST``, ``SESSION_NOT_ACTIVE``,
        ``LABELER_WITHDRAWN``), Conflict (``ALREADY_ANSWERED``).
        """
        reply = await self._session_call(
            "answer",
            session_id,
            most_corrections=self._most_corrections,
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
            trace=trace or None,
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
        trace: str = "",
    ) -> BatchReceipt:
        """Store unasked verdicts of one labeler, or none; atomic, idempotent by answer ids.

        With ``hold_s`` the next ranking waits for a further batch, so many seconds at most. The
        answers are refused one by one, with the errors of ``answer``. Raises NotFound
        (``SESSION_NOT_FOUND``).
        """
        reply = await self._session_call(
            "answer_batch",
            session_id,
            most_corrections=self._most_corrections,
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
            trace=trace or None,
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
            most_corrections=self._most_corrections,
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
    ) -> LeasesReceipt:
        """Extend the holder's leases, all or those named."""
        reply = await self._session_call(
            "extend", session_id, holder=holder, labeler=labeler, lease_ids=tuple(lease_ids)
        )
        return LeasesReceipt(dict(reply["extended"]), tuple(reply["lost"]))

    async def release(
        self, session_id: SessionId, *, holder: str, lease_ids: Sequence[str] = ()
    ) -> LeasesReceipt:
        """Give the holder's queries back, all or those named."""
        reply = await self._session_call(
            "release", session_id, holder=holder, lease_ids=tuple(lease_ids)
        )
        return LeasesReceipt({}, tuple(reply["lost"]))

    async def pause(self, session_id: SessionId, *, request_id: str | None = None) -> None:
        """LABELING -> PAUSED. Raises WrongState (``ILLEGAL_TRANSITION``).

        A call with the ``request_id`` of an earlier one within a day has no further effect, here
        and in the methods below. Raises InvalidInput (``REQUEST_ID_REUSED``) if they differ.
        """
        await self._move(session_id, "pause", request_id)

    async def resume(self, session_id: SessionId, *, request_id: str | None = None) -> None:
        """PAUSED -> LABELING; COMPLETED or FAILED -> PREPARING, and on where all is there.

        Raises WrongState (``ILLEGAL_TRANSITION``, ``BUDGET_SPENT``).
        """
        await self._move(session_id, "resume", request_id)

    async def finish(self, session_id: SessionId, *, request_id: str | None = None) -> None:
        """LABELING or PAUSED -> ESTIMATING. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._move(session_id, "finish", request_id)

    async def cancel(self, session_id: SessionId, *, request_id: str | None = None) -> None:
        """Any but the ended states -> CANCELLED. Raises WrongState (``ILLEGAL_TRANSITION``)."""
        await self._move(session_id, "cancel", request_id)

    async def _move(self, session_id: SessionId, verb: str, request_id: str | None) -> None:
        await self._session_call("move", session_id, verb=verb, request_id=request_id or None)

    async def update(
        self,
        session_id: SessionId,
        *,
        display_name: str | None = None,
        labels: Mapping[str, str] | None = None,
        budget: int | None = None,
        priority: int | None = None,
        trusts: Mapping[str, float] | None = None,
        retention_ms: int | None = None,
        etag: str | None = None,
        request_id: str | None = None,
    ) -> None:
        """Change what is given; the session moves on where a new budget is spent or frees it.

        With ``trusts`` a ranking is made anew. A ``retention_ms`` of 0 keeps it for good,
        ``AS_SERVICE_IS_SET`` as long as others.

        Raises InvalidInput (``BUDGET_TOO_LARGE``, ``BUDGET_TOO_SMALL``), WrongState
        (``SESSION_NOT_ACTIVE``, for a budget or trusts), Conflict (``ETAG_MISMATCH``) if the
        session is no longer at the version ``etag``.
        """
        await self._session_call(
            "update_session",
            session_id,
            display_name=display_name,
            labels=None if labels is None else codec.labels_to_text(labels),
            budget=budget,
            priority=priority,
            trusts=None if trusts is None else codec.trusts_to_text(trusts),
            retention_ms=retention_ms,
            etag=etag or None,
            request_id=request_id or None,
        )

    async def withdraw(
        self,
        session_id: SessionId,
        labeler: str,
        *,
        by: str,
        etag: str | None = None,
        request_id: str | None = None,
    ) -> WithdrawalEffect:
        """Make all votes of a labeler void.

        Raises NotFound (``UNKNOWN_LABELER``), WrongState (``SESSION_NOT_ACTIVE``), Conflict
        (``ETAG_MISMATCH``).
        """
        return await self._withdraw(
            session_id, labeler, "withdraw", by=by, etag=etag, request_id=request_id
        )

    async def reinstate(
        self,
        session_id: SessionId,
        labeler: str,
        *,
        by: str,
        etag: str | None = None,
        request_id: str | None = None,
    ) -> WithdrawalEffect:
        """Let a labeler's votes count again; errors as in ``withdraw``."""
        return await self._withdraw(
            session_id, labeler, "reinstate", by=by, etag=etag, request_id=request_id
        )

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
        etag: str | None = None,
        request_id: str | None = None,
    ) -> WithdrawalEffect:
        reply = await self._session_call(
            "withdraw",
            session_id,
            labeler=labeler,
            verb=verb,
            speaker=by,
            preview_job=preview_job,
            etag=etag or None,
            request_id=request_id or None,
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

    async def reopen(
        self, session_id: SessionId, row: int, *, by: str, request_id: str | None = None
    ) -> Reopening:
        """Ask again about a row, whose votes are retracted.

        Raises WrongState (``NOTHING_TO_REOPEN``, ``SESSION_NOT_ACTIVE``), TooLarge
        (``TOO_MANY_CORRECTIONS``), QuotaExceeded (``TOO_MANY_EVENTS``).
        """
        reply = await self._session_call(
            "reopen",
            session_id,
            row=row,
            speaker=by,
            explanation=_REOPENED.SerializeToString(),
            most_corrections=self._most_corrections,
            request_id=request_id or None,
        )
        return Reopening(query=reply["query"], retracted_votes=reply["votes"])

    async def withdrawn(self, session_id: SessionId) -> frozenset[str]:
        """Labelers whose votes are void."""
        async with store_call():
            names = await self._client.smembers(keys.session(session_id, "withdrawn"))
        return frozenset(name.decode() for name in names)

    async def delete(
        self, session_id: SessionId, *, etag: str | None = None, request_id: str | None = None
    ) -> None:
        """Delete the session with its labels and results. Raises Conflict (``ETAG_MISMATCH``)."""
        await self._session_call(
            "delete_session", session_id, etag=etag or None, request_id=request_id or None
        )

    async def label_events(
        self,
        session_id: SessionId,
        *,
        after: str = "",
        limit: int = 1000,
        newest_first: bool = False,
    ) -> list[LabelEvent]:
        """Label events behind an event id in the order asked for: oldest first, or newest first."""
        events: list[LabelEvent] = []
        log = keys.session(session_id, "events")
        start = f"({after}" if after else "+" if newest_first else "-"
        async with store_call():
            # The log also records when queries were made; those entries are passed over.
            while len(events) < limit:
                batch = (
                    await self._client.xrevrange(log, max=start, count=limit)
                    if newest_first
                    else await self._client.xrange(log, min=start, count=limit)
                )
                events += [_event(key, fields) for key, fields in batch if b"verdict" in fields]
                if len(batch) < limit:
                    break
                start = f"({batch[-1][0].decode()}"
        return events[:limit]

    async def last_event(self, session_id: SessionId) -> str:
        """Id of the newest entry of the label log; empty where there is none."""
        async with store_call():
            newest = await self._client.xrevrange(keys.session(session_id, "events"), count=1)
        return str(newest[0][0].decode()) if newest else ""

    async def labels_in_force(self, session_id: SessionId) -> dict[int, Verdict]:
        """Row -> its label in force."""
        async with store_call():
            stored = await self._client.hgetall(keys.session(session_id, "labels"))
        return {int(row): Verdict(int(value.split()[0])) for row, value in stored.items()}

    async def controls(self, session_id: SessionId) -> dict[int, Verdict]:
        """Control items: row -> what it is."""
        async with store_call():
            record = await self._client.hget(keys.session(session_id), "record")
        return codec.controls({b"record": record or b""})

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
        number = await self.revision(session_id, revision)
        async with store_call():
            data = await self._client.get(keys.session(session_id, f"result:{number}"))
        if data is None:
            raise _no_result(session_id, number)
        return bytes(data)

    async def model_piece(
        self, session_id: SessionId, revision: int | None, index: int
    ) -> bytes | None:
        """Piece ``index`` of a model, None past the end. Raises NotFound (``RESULT_NOT_FOUND``)."""
        number = await self.revision(session_id, revision)
        key = keys.session(session_id, f"model:{number}")
        async with store_call():
            piece: bytes | None = await self._client.lindex(key, index)
        if piece is None and index == 0:
            raise _no_result(session_id, number)
        return piece

    async def revision(self, session_id: SessionId, revision: int | None) -> int:
        """Number of a result, the latest for None. Raises NotFound (``RESULT_NOT_FOUND``)."""
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


def _no_result(session_id: SessionId, revision: int) -> NotFound:
    return NotFound(
        "RESULT_NOT_FOUND",
        f"Session {session_id} has no result {revision or 'yet'}; finish the session first.",
        session=session_id,
        **({"result": f"{session_id}/results/{revision}"} if revision else {}),
    )


def _receipt(reply: dict[str, Any]) -> Receipt:
    return Receipt(
        applied=reply["applied"],
        query=reply["query"],
        counts=LabelCounts(**reply["counts"]),
        event_id=reply.get("event", ""),
    )


def _drawn_order(controls: Sequence[ControlItem], seed: int) -> list[int]:
    """Rows of control items in the order in which labelers get them."""
    rows = sorted(one.row for one in controls)
    random.Random(seed).shuffle(rows)
    return rows


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
        kind="CHECKED" if b"control" in fields else fields[b"kind"].decode(),
        row=int(fields[b"row"]),
        verdict=Verdict(int(fields[b"verdict"])),
        labeler=fields[b"labeler"].decode(),
        query=int(fields[b"query"]),
        source_reference=fields[b"source"].decode(),
        answer_id=fields[b"answer_id"].decode(),
        time_ms=int(event_id.split("-")[0]),
        answer_seconds=int(fields[b"ms"]) / 1000,
        provenance=fields.get(b"basis", b"").decode(),
        confidence=codec.confidence_from_text(fields.get(b"confidence", b"").decode()),
        origin=fields.get(b"origin", b"").decode(),
        adjudicates=b"decides" in fields,
    )
