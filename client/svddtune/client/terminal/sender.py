"""Sends the controller's requests to the service, in order, and returns what happened as events."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from svddtune.client.client import TuningClient
from svddtune.client.errors import SvddtuneError, Unavailable
from svddtune.client.runs.waiting import commands, reason
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.requests import FetchQuery, Relabel, Request, Retract, Skip, Submit
from svddtune.client.tuning import Tuning
from svddtune.client.types import Ack, Query

# After so many seconds without a query the reason is looked up.
_PATIENCE_S = 3.0

Event = Callable[[LabelingController, float], list[Request]]


class RequestSender:
    """Sends requests in threads of its own, so that the labeler never waits for the network.

    Parameters
    ----------
    wake : callable
        Called, from any thread, when there are events.
    command : callable, optional
        Returns the command line with these words that reaches the service; default with its
        address.
    """

    def __init__(
        self,
        client: TuningClient,
        tuning: Tuning,
        wake: Callable[[], None],
        command: Callable[..., str] | None = None,
    ) -> None:
        self._client = client
        self._tuning = tuning
        self._wake = wake
        self._command = command or commands(client)
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._asks: queue.SimpleQueue[FetchQuery | None] = queue.SimpleQueue()
        self._names: dict[str, tuple[str, ...]] = {}
        self._closed = False
        for target in (self._send_all, self._ask_all):
            threading.Thread(target=target, name="svddtune-label", daemon=True).start()

    def send(self, request: Request) -> None:
        """Send a request after those before it."""
        self._requests.put(request)

    def events(self) -> list[Event]:
        """Return the events since the last call, in order, to be called with the controller."""
        found: list[Event] = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._events.get_nowait())
        return found

    def poll(self, controller: LabelingController, now: float) -> list[Request]:
        """Update the controller's view of the connection, the sessions and the leases."""
        controller.status.update(connected=self._tuning.connected, sessions=self._tuning.sessions)
        requests: list[Request] = []
        for card in list(controller.cards):
            if card.leased and not self._tuning.is_open(card.query):
                reason = self._tuning.lost_reason(card.query)
                requests += controller.lost(now, card.query, reason)
        return requests

    def close(self) -> None:
        """End the dialogue: queries that are held go back to the queue."""
        self._closed = True
        self._requests.put(None)
        self._asks.put(None)
        self._tuning.close()

    def _report(self, event: Event) -> None:
        self._events.put(event)
        self._wake()

    def _send_all(self) -> None:
        while (request := self._requests.get()) is not None:
            match request:
                case FetchQuery():
                    # After the requests before it: they make room for the next query.
                    self._asks.put(request)
                case Submit(ticket, query, judgement):
                    self._acknowledge(ticket, partial(self._tuning.submit, query, judgement))
                case Relabel(ticket, query, judgement):
                    label = partial(self._tuning.submit_label, replace=True, session=query.session)
                    self._acknowledge(ticket, partial(label, query.observation_id, judgement))
                case Skip(ticket, query, mode):
                    self._settle(ticket, partial(self._tuning.skip, query, mode))
                case Retract(ticket, query):
                    retract = partial(self._tuning.retract, session=query.session)
                    self._settle(ticket, partial(retract, query.observation_id))

    def _acknowledge(self, ticket: int, submit: Callable[[], Future[Ack]]) -> None:
        def done(future: Future[Ack]) -> None:
            self._settle(ticket, future.result)

        try:
            submit().add_done_callback(done)
        except SvddtuneError as error:
            self._refuse(ticket, error)

    def _settle(self, ticket: int, call: Callable[[], Ack]) -> None:
        try:
            ack = call()
        except SvddtuneError as error:
            self._refuse(ticket, error)
        else:
            self._report(partial(LabelingController.stored, ticket=ticket, ack=ack))

    def _refuse(self, ticket: int, error: SvddtuneError) -> None:
        self._report(partial(LabelingController.refused, ticket=ticket, error=error))

    def _ask_all(self) -> None:
        while self._asks.get() is not None:
            try:
                query = self._next_query()
            except SvddtuneError as error:
                if not self._closed:
                    self._report(_raising(error))
                return
            if query is None:
                self._report(partial(LabelingController.ended, reason=self._tuning.finished))
            else:
                names = self._feature_names(query)
                self._report(partial(LabelingController.came, query=query, names=names))

    def _next_query(self) -> Query | None:
        """Return the next query; report meanwhile why none comes."""
        while True:
            try:
                return self._tuning.next_query(timeout_s=_PATIENCE_S)
            except Unavailable as error:
                if error.reason != "WAIT_TIMEOUT":
                    raise
            self._report(partial(LabelingController.waits, sentence=self._reason()))

    def _reason(self) -> str:
        if not self._tuning.name or not self._tuning.connected:
            return ""
        try:
            session = self._client.get_session(self._tuning.name)
        except SvddtuneError:  # the dialogue itself will tell, if it lasts
            return ""
        return reason(session, self._tuning.labeler, self._command)

    def _feature_names(self, query: Query) -> tuple[str, ...]:
        """Return the names of the query's features; none where they cannot be had now."""
        try:
            session = self._tuning.sessions.get(query.session)
            dataset = (session or self._client.get_session(query.session)).dataset
            if dataset not in self._names:
                self._names[dataset] = self._client.get_dataset(dataset).feature_names
            return self._names[dataset]
        except SvddtuneError:
            return ()


def _raising(error: SvddtuneError) -> Event:
    def event(controller: LabelingController, now: float) -> list[Request]:
        raise error

    return event
