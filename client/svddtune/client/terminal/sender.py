"""Between the desk and the service: orders go out in order, news come in when they come."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from svddtune.client.client import TuningClient
from svddtune.client.errors import SvddtuneError, Unavailable
from svddtune.client.runs.waiting import reason
from svddtune.client.terminal.controller import Desk
from svddtune.client.terminal.requests import Ask, Order, Relabel, Retract, Skip, Submit
from svddtune.client.tuning import Tuning
from svddtune.client.types import Ack, Query

# A wait for a query that is longer is looked into.
_PATIENCE_S = 3.0

News = Callable[[Desk, float], list[Order]]


class Talk:
    """Carries out orders in threads of its own, so that nobody at the keyboard waits for the wire.

    Parameters
    ----------
    wake : callable
        Called, from any thread, when there are news.
    """

    def __init__(self, client: TuningClient, tuning: Tuning, wake: Callable[[], None]) -> None:
        self._client = client
        self._tuning = tuning
        self._wake = wake
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self._asks: queue.SimpleQueue[Ask | None] = queue.SimpleQueue()
        self._names: dict[str, tuple[str, ...]] = {}
        self._closed = False
        for target in (self._send_all, self._ask_all):
            threading.Thread(target=target, name="svddtune-label", daemon=True).start()

    def carry_out(self, order: Order) -> None:
        """Have an order carried out after those before it."""
        self._orders.put(order)

    def news(self) -> list[News]:
        """Return what is new, in order; each is to be told to the desk."""
        found: list[News] = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._news.get_nowait())
        return found

    def look(self, desk: Desk, now: float) -> list[Order]:
        """Tell the desk how things are: the connection, the sessions, what is still ours."""
        desk.known.told(connected=self._tuning.connected, sessions=self._tuning.sessions)
        orders: list[Order] = []
        for card in list(desk.hand):
            if card.leased and not self._tuning.is_open(card.query):
                reason = self._tuning.lost_reason(card.query)
                orders += desk.lost(now, card.query, reason)
        return orders

    def close(self) -> None:
        """End the dialogue: what is held goes back to the queue."""
        self._closed = True
        self._orders.put(None)
        self._asks.put(None)
        self._tuning.close()

    def _tell(self, news: News) -> None:
        self._news.put(news)
        self._wake()

    def _send_all(self) -> None:
        while (order := self._orders.get()) is not None:
            match order:
                case Ask():
                    # Not before what was said earlier is under way: it makes room.
                    self._asks.put(order)
                case Submit(ticket, query, verdict):
                    self._acknowledge(ticket, partial(self._tuning.submit, query, verdict))
                case Relabel(ticket, query, verdict):
                    label = partial(self._tuning.submit_label, replace=True, session=query.session)
                    self._acknowledge(ticket, partial(label, query.observation_id, verdict))
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
            self._tell(partial(Desk.stored, ticket=ticket, ack=ack))

    def _refuse(self, ticket: int, error: SvddtuneError) -> None:
        self._tell(partial(Desk.refused, ticket=ticket, error=error))

    def _ask_all(self) -> None:
        while self._asks.get() is not None:
            try:
                query = self._next_query()
            except SvddtuneError as error:
                if not self._closed:
                    self._tell(_raising(error))
                return
            if query is None:
                self._tell(partial(Desk.ended, reason=self._tuning.finished))
            else:
                names = self._feature_names(query)
                self._tell(partial(Desk.came, query=query, names=names))

    def _next_query(self) -> Query | None:
        """Return the next query; tell the desk meanwhile what it waits for."""
        while True:
            try:
                return self._tuning.next_query(timeout_s=_PATIENCE_S)
            except Unavailable as error:
                if error.reason != "WAIT_TIMEOUT":
                    raise
            self._tell(partial(Desk.waits, sentence=self._reason()))

    def _reason(self) -> str:
        if not self._tuning.name or not self._tuning.connected:
            return ""
        try:
            session = self._client.get_session(self._tuning.name)
        except SvddtuneError:  # the dialogue itself will tell, if it lasts
            return ""
        return reason(session, self._tuning.labeler, self._client.address)

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


def _raising(error: SvddtuneError) -> News:
    def news(desk: Desk, now: float) -> list[Order]:
        raise error

    return news
