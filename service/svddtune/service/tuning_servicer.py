"""TuningService: one short method per call."""

import asyncio
from contextlib import suppress
from functools import partial
from uuid import uuid4

from svddtune.agreement import LabelerAccount, agreement
from svddtune.cost import CostEstimate
from svddtune.service import convert, filters, names, pictures, validate
from svddtune.service.access.caller import current
from svddtune.service.draining import Draining
from svddtune.service.handover import Handover
from svddtune.service.looks import Looks
from svddtune.service.quotas import Quotas, client_of
from svddtune.service.session_requests import creation, planned_session, update
from svddtune.service.stalls import stall
from svddtune.service.status import Context, rpc, unbroken, undisturbed
from svddtune.service.views import session_for_caller
from svddtune.state.datasets import DatasetStore
from svddtune.state.notices import Notices
from svddtune.state.pictures import Pictures
from svddtune.state.session import LabelEvent, Session, SessionId
from svddtune.state.store import SessionStore
from svddtune.v1 import common_pb2, result_pb2, tuning_pb2, tuning_pb2_grpc

# Label events in one message of a watch.
_EVENTS_PER_MESSAGE = 1000
# Label events read at once when all are needed.
_EVENTS_AT_ONCE = 1000
# Seconds that a preview waits for a worker.
_PREVIEW_S = 5.0


def _speaker() -> str:
    """Who withdraws, reinstates or reopens, as the label log names it."""
    return current().name or "owner"


def _created(session: tuning_pb2.Session, cost: CostEstimate) -> tuning_pb2.CreateSessionResponse:
    session.estimate.first_query_seconds = cost.seconds
    session.estimate.worker_memory_bytes = cost.memory_bytes
    return tuning_pb2.CreateSessionResponse(session=session)


def _listed(session: Session, attended: bool) -> tuning_pb2.Session:
    """A session of a list, as whoever makes the call may see it."""
    message = session_for_caller(session)
    message.stall = stall(message, attended=attended)
    return message


class TuningServicer(tuning_pb2_grpc.TuningServiceServicer):
    """Sessions: created, watched, steered and read."""

    def __init__(
        self,
        store: SessionStore,
        datasets: DatasetStore,
        pictures: Pictures,
        notices: Notices,
        draining: Draining,
        *,
        worker_memory_bytes: int,
        quotas: Quotas,
    ) -> None:
        self._store = store
        self._datasets = datasets
        self._pictures = pictures
        self._notices = notices
        self._looks = Looks(store, notices)
        self._draining = draining
        self._handover = Handover(store, datasets)
        self._worker_memory_bytes = worker_memory_bytes
        self._quotas = quotas

    @rpc
    @undisturbed
    async def CreateSession(
        self, request: tuning_pb2.CreateSessionRequest, context: Context
    ) -> tuning_pb2.CreateSessionResponse:
        """Start a session."""
        asked = await creation(request, self._datasets)
        dataset, config = asked.dataset, asked.config
        cost = validate.affordable(dataset, config, self._worker_memory_bytes)
        take = (
            partial(
                self._handover.take,
                asked.source,
                asked.dataset_id,
                asked.initial,
                asked.controls,
                config.budget,
            )
            if asked.source
            else None
        )
        if request.validate_only:
            await self._store.check_room()
            session = planned_session(request, asked, await take() if take else None)
            return _created(session, cost)
        session_id = await self._store.create(
            asked.dataset_id,
            config,
            observation_count=dataset.observation_count,
            scaling=dataset.scaling,
            display_name=request.display_name,
            labels=dict(request.labels),
            initial=asked.initial,
            controls=asked.controls,
            labeler=asked.labeler,
            request_id=asked.request_id,
            source=request.from_session,
            retention_ms=asked.retention_ms,
            take=take,
        )
        return _created(await self._session(session_id), cost)

    @rpc
    @undisturbed
    async def GetSession(
        self, request: tuning_pb2.GetSessionRequest, context: Context
    ) -> tuning_pb2.GetSessionResponse:
        """Describe a session."""
        session_id = names.session_id(request.name)
        session = await self._session(session_id)
        attended = await self._store.attended(session_id)
        session.without_workers = not attended
        session.stall = stall(session, attended=attended)
        return tuning_pb2.GetSessionResponse(session=session)

    @rpc
    @undisturbed
    async def ListSessions(
        self, request: tuning_pb2.ListSessionsRequest, context: Context
    ) -> tuning_pb2.ListSessionsResponse:
        """Describe a page of sessions, newest first."""
        size = validate.page_size(request.page_size)
        sessions, position = await self._store.list_sessions(
            limit=size,
            before=convert.page_position(request.page_token),
            accept=filters.of_sessions(request),
        )
        attended = await self._store.attended_among(one.id for one in sessions)
        page = convert.fitting([_listed(one, one.id in attended) for one in sessions])
        if len(page) < len(sessions):
            last = sessions[len(page) - 1]
            position = (last.created_ms, last.id)
        token = convert.page_token(*position) if position else ""
        return tuning_pb2.ListSessionsResponse(sessions=page, next_page_token=token)

    @rpc
    @undisturbed
    async def UpdateSession(
        self, request: tuning_pb2.UpdateSessionRequest, context: Context
    ) -> tuning_pb2.UpdateSessionResponse:
        """Change what the mask names."""
        session_id = names.session_id(request.session.name, "session.name")
        changes, request_id, faults = update(request)
        if faults.any and "budget" in changes:
            # (Else the store compares it, while nothing else changes the session.)
            faults.of(validate.budget, changes["budget"], await self._store.get(session_id))
        faults.check()
        await self._store.update(
            session_id, **changes, etag=request.session.etag, request_id=request_id
        )
        return tuning_pb2.UpdateSessionResponse(session=await self._session(session_id))

    @rpc
    @undisturbed
    async def PauseSession(
        self, request: tuning_pb2.PauseSessionRequest, context: Context
    ) -> tuning_pb2.PauseSessionResponse:
        """Stop asking until the session is resumed."""
        session_id = names.session_id(request.name)
        request_id = validate.request_id(request.request_id)
        await self._store.pause(session_id, request_id=request_id)
        return tuning_pb2.PauseSessionResponse(session=await self._session(session_id))

    @rpc
    @undisturbed
    async def ResumeSession(
        self, request: tuning_pb2.ResumeSessionRequest, context: Context
    ) -> tuning_pb2.ResumeSessionResponse:
        """Ask again."""
        session_id = names.session_id(request.name)
        request_id = validate.request_id(request.request_id)
        await self._store.resume(session_id, request_id=request_id)
        return tuning_pb2.ResumeSessionResponse(session=await self._session(session_id))

    @rpc
    @undisturbed
    async def FinishSession(
        self, request: tuning_pb2.FinishSessionRequest, context: Context
    ) -> tuning_pb2.FinishSessionResponse:
        """Stop asking and compute the result."""
        session_id = names.session_id(request.name)
        request_id = validate.request_id(request.request_id)
        await self._store.finish(session_id, request_id=request_id)
        return tuning_pb2.FinishSessionResponse(session=await self._session(session_id))

    @rpc
    @undisturbed
    async def CancelSession(
        self, request: tuning_pb2.CancelSessionRequest, context: Context
    ) -> tuning_pb2.CancelSessionResponse:
        """End without a result."""
        session_id = names.session_id(request.name)
        request_id = validate.request_id(request.request_id)
        await self._store.cancel(session_id, request_id=request_id)
        return tuning_pb2.CancelSessionResponse(session=await self._session(session_id))

    @rpc
    @undisturbed
    async def DeleteSession(
        self, request: tuning_pb2.DeleteSessionRequest, context: Context
    ) -> tuning_pb2.DeleteSessionResponse:
        """Delete the session with its labels and results."""
        await self._store.delete(
            names.session_id(request.name),
            etag=request.etag,
            request_id=validate.request_id(request.request_id),
        )
        return tuning_pb2.DeleteSessionResponse()

    @rpc
    async def WatchSession(self, request: tuning_pb2.WatchSessionRequest, context: Context) -> None:
        """Send the session after every change, also of what it lacks, until it ends."""
        session_id = names.session_id(request.name)
        version, last_event = convert.resume_position(request.resume_token)
        if request.new_events_only and not request.resume_token:
            last_event = await unbroken(self._store.last_event(session_id))
        with (
            self._quotas.streams.one(client_of(context)),
            self._looks.watching(session_id) as shared,
            self._notices.watching(session_id) as changed,
            self._draining.stream(changed.set),
        ):
            known_stall = None
            while True:
                changed.clear()
                look = await shared.look(anew=known_stall is None)
                session = look.session
                message = convert.session_to_proto(session)
                message.stall = stall(message, attended=look.attended)
                # (Whoever resumes a stream knows the session as it is.)
                if str(session.version) != version or known_stall not in (None, message.stall):
                    version = str(session.version)
                    last_event = await self._send(session, message, last_event, context)
                known_stall = message.stall
                if session.state.ended:
                    return
                await self._next_change(changed, look.until)

    async def _next_change(self, changed: asyncio.Event, until: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await changed.wait()
        self._draining.check()
        while not self._notices.connected.is_set():
            # Redis is away; its return sets the event too.
            changed.clear()
            await changed.wait()
            self._draining.check()

    async def _send(
        self, session: Session, message: tuning_pb2.Session, last_event: str, context: Context
    ) -> str:
        """Send the session with the events since, in several messages if there are many."""
        while True:
            events = await unbroken(
                self._store.label_events(session.id, after=last_event, limit=_EVENTS_PER_MESSAGE)
            )
            last_event = events[-1].event_id if events else last_event
            response = tuning_pb2.WatchSessionResponse(
                session=message,
                resume_token=convert.resume_token(str(session.version), last_event),
                events=await unbroken(self._events(session, events)),
            )
            await context.write(response)
            if len(events) < _EVENTS_PER_MESSAGE:
                return last_event

    @rpc
    @undisturbed
    async def ListLabels(
        self, request: tuning_pb2.ListLabelsRequest, context: Context
    ) -> tuning_pb2.ListLabelsResponse:
        """A page of the label log."""
        size = validate.page_size(request.page_size)
        after = convert.event_position(request.page_token)
        session = await self._store.get(names.session_id(request.name))
        found = await self._store.label_events(
            session.id, after=after, limit=size + 1, newest_first=request.newest_first
        )
        page = found[:size]
        token = convert.event_token(page[-1].event_id) if len(found) > size else ""
        return tuning_pb2.ListLabelsResponse(
            events=await self._events(session, page), next_page_token=token
        )

    @rpc
    @undisturbed
    async def ListLabelers(
        self, request: tuning_pb2.ListLabelersRequest, context: Context
    ) -> tuning_pb2.ListLabelersResponse:
        """Report on a page of labelers, by name, and on the agreement of all."""
        size = validate.page_size(request.page_size, default=validate.LARGEST_PAGE)
        last_name = convert.name_position(request.page_token)
        account = await self._account(names.session_id(request.name))
        reports = [one for one in account.reports() if one.labeler > last_name]
        page = reports[:size]
        return tuning_pb2.ListLabelersResponse(
            labelers=map(convert.labeler_to_proto, page),
            next_page_token=convert.name_token(page[-1].labeler) if len(reports) > size else "",
            agreement=convert.agreement_to_proto(agreement(account.votes_in_force())),
        )

    @rpc
    @undisturbed
    async def GetAgreement(
        self, request: tuning_pb2.GetAgreementRequest, context: Context
    ) -> tuning_pb2.GetAgreementResponse:
        """Compare a page of pairs of labelers, or of sources."""
        size = validate.page_size(request.page_size, default=validate.LARGEST_PAGE)
        last = convert.pair_position(request.page_token)
        by = convert.agreement_by(request.by)
        account = await self._account(names.session_id(request.name))
        pairs = (
            account.pairs_of_provenances()
            if by == tuning_pb2.AGREEMENT_BY_PROVENANCE
            else account.pairs_of_labelers()
        )
        rest = [one for one in pairs if last is None or (one.first, one.second) > last]
        page = rest[:size]
        token = convert.pair_token(page[-1].first, page[-1].second) if len(rest) > size else ""
        return tuning_pb2.GetAgreementResponse(
            pairs=map(convert.pair_to_proto, page), next_page_token=token
        )

    async def _account(self, session_id: SessionId) -> LabelerAccount:
        """What labelers did in a session that exists."""
        session = await self._store.get(session_id)
        account, after = LabelerAccount(await self._store.controls(session.id)), ""
        while True:
            batch = await self._store.label_events(session.id, after=after, limit=_EVENTS_AT_ONCE)
            account.add(batch)
            if len(batch) < _EVENTS_AT_ONCE:
                return account
            after = batch[-1].event_id

    @rpc
    @undisturbed
    async def ListHistory(
        self, request: tuning_pb2.ListHistoryRequest, context: Context
    ) -> tuning_pb2.ListHistoryResponse:
        """A page of what was live with each number of labels, oldest first."""
        size = validate.page_size(request.page_size, default=validate.LARGEST_PAGE)
        first = convert.row_position(request.page_token)
        session = await self._store.get(names.session_id(request.name))
        return await pictures.history(self._pictures, session, size=size, first=first)

    @rpc
    @undisturbed
    async def GetAtlas(
        self, request: tuning_pb2.GetAtlasRequest, context: Context
    ) -> tuning_pb2.GetAtlasResponse:
        """What the labels say of every cell of the atlas."""
        session = await self._store.get(names.session_id(request.name))
        return await self._pictures.cells(session.id)

    @rpc
    @undisturbed
    async def GetMap(
        self, request: tuning_pb2.GetMapRequest, context: Context
    ) -> tuning_pb2.GetMapResponse:
        """The data in two dimensions."""
        session = await self._store.get(names.session_id(request.name))
        labels = await self._store.labels_in_force(session.id)
        return await pictures.session_map(self._pictures, self._datasets, session, labels)

    @rpc
    async def WithdrawLabeler(
        self, request: tuning_pb2.WithdrawLabelerRequest, context: Context
    ) -> tuning_pb2.WithdrawLabelerResponse:
        """Make a labeler's votes void, or preview that."""
        session_id = names.session_id(request.name)
        labeler = validate.labeler(request.labeler)
        request_id = validate.request_id(request.request_id)
        if request.validate_only:
            effect = await self._preview(session_id, labeler)
        else:
            done = await unbroken(
                self._store.withdraw(
                    session_id,
                    labeler,
                    by=_speaker(),
                    etag=request.etag,
                    request_id=request_id,
                )
            )
            effect = convert.effect_to_proto(done)
        return tuning_pb2.WithdrawLabelerResponse(
            session=await unbroken(self._session(session_id)), effect=effect
        )

    @rpc
    @undisturbed
    async def ReinstateLabeler(
        self, request: tuning_pb2.ReinstateLabelerRequest, context: Context
    ) -> tuning_pb2.ReinstateLabelerResponse:
        """Let a labeler's votes count again."""
        session_id = names.session_id(request.name)
        labeler = validate.labeler(request.labeler)
        request_id = validate.request_id(request.request_id)
        effect = await self._store.reinstate(
            session_id,
            labeler,
            by=_speaker(),
            etag=request.etag,
            request_id=request_id,
        )
        return tuning_pb2.ReinstateLabelerResponse(
            session=await self._session(session_id), effect=convert.effect_to_proto(effect)
        )

    @rpc
    @undisturbed
    async def ReopenObservation(
        self, request: tuning_pb2.ReopenObservationRequest, context: Context
    ) -> tuning_pb2.ReopenObservationResponse:
        """Ask again about an observation."""
        session_id = names.session_id(request.name)
        request_id = validate.request_id(request.request_id)
        session = await self._store.get(session_id)
        (row,) = await self._datasets.rows_of(session.dataset_id, [request.observation_id])
        if row is None:
            raise validate.unknown_observation(request.observation_id)
        done = await self._store.reopen(session_id, row, by=_speaker(), request_id=request_id)
        return tuning_pb2.ReopenObservationResponse(
            session=await self._session(session_id),
            query=done.query,
            retracted_votes=done.retracted_votes,
        )

    async def _preview(self, session_id: SessionId, labeler: str) -> tuning_pb2.WithdrawalEffect:
        preview_id = uuid4().hex
        with self._notices.watching(session_id) as changed:
            effect = convert.effect_to_proto(
                await unbroken(self._store.preview_withdrawal(session_id, labeler, preview_id))
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(_PREVIEW_S):
                    while effect.votes:
                        changed.clear()
                        preview = await unbroken(self._store.preview(session_id, preview_id))
                        if preview is not None:
                            if preview.HasField("before"):
                                effect.live_before.CopyFrom(preview.before)
                            if preview.HasField("after"):
                                effect.live_after.CopyFrom(preview.after)
                            break
                        await changed.wait()
        return effect

    @rpc
    @undisturbed
    async def GetResult(
        self, request: tuning_pb2.GetResultRequest, context: Context
    ) -> tuning_pb2.GetResultResponse:
        """The latest result, or the one named."""
        session_id, revision = names.result_id(request.name)
        revision = revision or (await self._store.get(session_id)).revision
        return tuning_pb2.GetResultResponse(result=await self._result(session_id, revision))

    @rpc
    @undisturbed
    async def ListResults(
        self, request: tuning_pb2.ListResultsRequest, context: Context
    ) -> tuning_pb2.ListResultsResponse:
        """A page of results without curves, newest first."""
        session_id = names.session_id(request.parent, "parent")
        size = validate.page_size(request.page_size)
        latest = (await self._store.get(session_id)).revision
        # (A token is the revision before which the page begins.)
        first = min(latest, (convert.row_position(request.page_token) or latest + 1) - 1)
        results = []
        for revision in range(first, max(0, first - size), -1):
            result = await self._result(session_id, revision)
            for part in ("c_curve", "alignment_curve", "manifest"):
                result.ClearField(part)
            results.append(result)
        page = convert.fitting(results)
        end = first - len(page) + 1
        return tuning_pb2.ListResultsResponse(
            results=page, next_page_token=convert.row_token(end) if page and end > 1 else ""
        )

    @rpc
    async def ExportModel(self, request: tuning_pb2.ExportModelRequest, context: Context) -> None:
        """Stream the stored pieces of a model."""
        session_id, revision = names.result_id(request.name)
        revision = revision or (await unbroken(self._store.get(session_id))).revision
        index = 0
        while piece := await unbroken(self._store.model_piece(session_id, revision, index)):
            response = tuning_pb2.ExportModelResponse.FromString(piece)
            if response.HasField("header"):
                response.header.result = names.result_name(session_id, revision)
            await context.write(response)
            index += 1

    async def _session(self, session_id: SessionId) -> tuning_pb2.Session:
        return session_for_caller(await self._store.get(session_id))

    async def _result(self, session_id: SessionId, revision: int) -> result_pb2.TuningResult:
        result = result_pb2.TuningResult.FromString(await self._store.result(session_id, revision))
        result.name = names.result_name(session_id, revision)
        return result

    async def _events(
        self, session: Session, events: list[LabelEvent]
    ) -> list[common_pb2.LabelEvent]:
        if not events:
            return []
        ids = await self._datasets.ids_of(session.dataset_id, [event.row for event in events])
        return [
            convert.event_to_proto(event, name) for event, name in zip(events, ids, strict=True)
        ]
