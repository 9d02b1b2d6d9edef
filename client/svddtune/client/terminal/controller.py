"""Decides what labelling at a terminal does, without I/O: commands and events in, requests out.

A question stays in `cards` from its arrival until it is answered, skipped or lost. Answers stay in
the history, so that they can be undone, newest first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from svddtune.client.errors import SvddtuneError
from svddtune.client.terminal.commands import Action, TerminalCommand
from svddtune.client.terminal.requests import (
    LOST,
    SKIPPED,
    Answered,
    Card,
    FetchQuery,
    Leave,
    Notice,
    Relabel,
    Request,
    Retract,
    Sent,
    Skip,
    Submit,
    said,
)
from svddtune.client.terminal.status import LabelingStatus
from svddtune.client.types import Ack, Judgement, Query, SkipMode, Verdict

# A key pressed sooner after a question has appeared was meant for the previous one.
GUARD_S = 0.2
_PACES = 20


@dataclass(slots=True)
class LabelingController:
    """The state of one labeler's work.

    Parameters
    ----------
    credit : int
        Queries to hold at once.
    confirm_drop : bool
        Whether to ask before an observation is dropped; False for programs.
    guard_s : float
        Seconds after a question has appeared during which verdicts are ignored.
    """

    credit: int = 1
    confirm_drop: bool = True
    guard_s: float = GUARD_S

    cards: list[Card] = field(default_factory=list)
    history: list[Answered] = field(default_factory=list)
    sent: dict[int, Sent] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    status: LabelingStatus = field(default_factory=LabelingStatus)
    finished: str = ""
    confirming: bool = False
    helping: bool = False
    quitting: bool = False
    paces_s: list[float] = field(default_factory=list)
    _all_features: bool = False
    # Tickets of requests whose outcome is not reported to the labeler.
    _unreported: set[int] = field(default_factory=set)
    _asking: bool = False
    _tickets: int = 0

    @property
    def card(self) -> Card | None:
        """The question that is to be answered now."""
        return self.cards[0] if self.cards else None

    @property
    def unsent(self) -> int:
        """Answers that are not acknowledged yet."""
        return sum(1 for one in self.sent.values() if isinstance(one, Submit | Relabel))

    def takes(self, command: TerminalCommand) -> bool:
        """Return whether the command applies now; without a question only actions do."""
        return self.card is not None or isinstance(command, Action)

    def start(self) -> list[Request]:
        """Return the first requests."""
        return self._next()

    # What the labeler does

    def command(
        self, now: float, command: TerminalCommand, number: int | None = None
    ) -> list[Request]:
        """Carry out a command; `number` is the query's, where the labeler named one."""
        if self.helping:
            self.helping = False
            if command is not Action.QUIT:
                return []
        if command is Action.QUIT:
            return self.quit()
        if self.confirming:
            return self._confirmed(now, command)
        card = self.card
        if isinstance(command, Action):
            return self._act(now, command)
        if card is None or self.quitting:
            return []
        if number is not None and number != card.query.number:
            self._notify(
                "refused", f"Query {number} is not open; query {card.query.number} is asked now"
            )
            return []
        if now - card.shown_at < self.guard_s:
            return []
        if isinstance(command, Verdict | Judgement):
            return self._answer(now, card, Judgement.of(command))
        if command is SkipMode.DROP and self.confirm_drop:
            self.confirming = True
            return []
        return self._skip(now, card, command)

    def mistyped(self, text: str) -> None:
        """Take in text that is no command."""
        if self.helping:
            self.helping = False
        elif self.confirming:
            self._keep()
        else:
            self._notify("refused", f"{text!r} is not an answer or a command; ? lists them")

    def quit(self) -> list[Request]:
        """Stop asking, and leave once all answers are acknowledged."""
        self.quitting = True
        self.confirming = False
        return self._next()

    def _act(self, now: float, key: Action) -> list[Request]:
        if key is Action.UNDO:
            return self._undo(now)
        if key is Action.HELP:
            self.helping = True
        elif key is Action.FEATURES:
            self._all_features = self.card is not None
        return []

    def _confirmed(self, now: float, command: TerminalCommand) -> list[Request]:
        card = self.card
        if command is Action.YES and card is not None:
            self.confirming = False
            return self._skip(now, card, SkipMode.DROP)
        self._keep()
        return []

    def _keep(self) -> None:
        self.confirming = False
        self._notify("info", "Kept in the session")

    def _answer(self, now: float, card: Card, judgement: Judgement) -> list[Request]:
        self._remove(now, card)
        self.history.append(Answered(card.query, judgement, now))
        self.paces_s = [*self.paces_s, now - card.shown_at][-_PACES:]
        kind = Submit if card.leased else Relabel
        return [self._send(kind(self._ticket(), card.query, judgement)), *self._next()]

    def _skip(self, now: float, card: Card, mode: SkipMode) -> list[Request]:
        if card.leased:
            self._remove(now, card)
            return [self._send(Skip(self._ticket(), card.query, mode)), *self._next()]
        if mode is not SkipMode.LATER:
            self._notify(
                "refused",
                f"Query {card.query.number} is asked again after your undo: answer it, or skip "
                f"it for later",
            )
            return []
        self._remove(now, card)
        self._notify("skipped", "left without an answer", card.query)
        return self._next()

    def _undo(self, now: float) -> list[Request]:
        if self.quitting or self.finished:
            return []
        if not self.history:
            self._notify("refused", "You have no answer in this run to take back")
            return []
        done = self.history.pop()
        card = Card(done.query, leased=False, taken_back=done.judgement, shown_at=now)
        self.cards.insert(0, card)
        self.status.session_name = done.query.session
        return [self._send(Retract(self._ticket(), done.query, done.judgement))]

    # What the service says

    def came(self, now: float, query: Query, names: tuple[str, ...] = ()) -> list[Request]:
        """Take in a query that is now leased; `names` are those of its features, where known."""
        self._asking = False
        self.status.waiting = ""
        self.status.set_feature_names(query.session, names)
        if any(isinstance(one, Relabel) and _same(one.query, query) for one in self.sent.values()):
            # Undone, leased anew and answered again at once: that answer has no Ack yet.
            skip = Skip(self._ticket(), query, SkipMode.LATER)
            self._unreported.add(skip.ticket)
            return [self._send(skip), *self._next()]
        again = next((c for c in self.cards if not c.leased and _same(c.query, query)), None)
        if again is not None:
            again.query, again.leased = query, True
        else:
            self.cards.append(Card(query, leased=True, shown_at=now))
        self._look_at_top()
        return self._next()

    def lost(self, now: float, query: Query, reason: str) -> list[Request]:
        """Take in that the lease of a query has ended."""
        card = next((c for c in self.cards if c.leased and c.query is query), None)
        if card is None:
            return []
        self._remove(now, card)
        self._notify("lost", LOST.get(reason, LOST[""]), query)
        return self._next()

    def stored(self, now: float, ticket: int, ack: Ack) -> list[Request]:
        """Take in that a request was acknowledged."""
        sent = self.sent.pop(ticket)
        if ticket in self._unreported:
            return self._next()
        if not isinstance(sent, Skip):
            self.status.set_counts(sent.query.session, ack.counts)
        match sent:
            case Skip(mode=mode):
                self._notify("skipped", SKIPPED[mode], sent.query)
            case Retract():
                self._notify("undone", f"{said(sent.judgement)} taken back", sent.query)
            case Submit() | Relabel() if not ack.applied:
                self._forget(sent.query)
                self._notify("lost", f"{said(sent.judgement)} came too late to count", sent.query)
            case Submit() | Relabel():
                self._notify("stored", said(sent.judgement), sent.query)
        return self._next()

    def refused(self, now: float, ticket: int, error: SvddtuneError) -> list[Request]:
        """Take in that a request was refused."""
        sent = self.sent.pop(ticket)
        if ticket in self._unreported:
            return self._next()
        if isinstance(sent, Retract):
            if (
                error.reason != "NOT_LABELED"
            ):  # nothing to take back: it is asked again all the same
                card = next((c for c in self.cards if c.query is sent.query), None)
                if card is not None and not card.leased:
                    self._remove(now, card)
                self._notify("refused", f"not taken back: {error.message}", sent.query)
        else:
            self._forget(sent.query)
            self._notify("refused", f"not stored: {error.message}", sent.query)
        return self._next()

    def waits(self, now: float, sentence: str) -> list[Request]:
        """Take in that no query comes; `sentence` says why, empty where that is not known."""
        self.status.waiting = sentence
        return []

    def ended(self, now: float, reason: str) -> list[Request]:
        """Take in that nothing more is asked."""
        self._asking = False
        self.finished = reason
        for card in list(self.cards):
            self._remove(now, card)
        return self._next()

    @property
    def fingerprint(self) -> tuple[object, ...]:
        """A value that is equal as long as the state looks the same."""
        card = self.card
        shown = card and (card.query.session, card.query.number, card.query.lease_id)
        status = (
            self.status.connected,
            self.status.counts,
            id(self.status.session),
            self.status.waiting,
        )
        state = (self.finished, self.confirming, self.helping, self.quitting)
        return (shown, status, state, len(self.sent), len(self.history))

    def take_features_request(self) -> bool:
        """Return, once, whether the labeler asked for all features."""
        requested, self._all_features = self._all_features, False
        return requested

    def take_notices(self) -> list[Notice]:
        """Return the notices since the last call."""
        notices, self.notices = self.notices, []
        return notices

    def _next(self) -> list[Request]:
        if self.quitting or self.finished:
            return [] if self.sent else [Leave()]
        held = sum(1 for card in self.cards if card.leased)
        if self._asking or held >= self.credit:
            return []
        self._asking = True
        return [FetchQuery()]

    def _remove(self, now: float, card: Card) -> None:
        on_top = card is self.card
        self.cards.remove(card)
        if on_top:
            self.confirming = False
            self._look_at_top()
            if self.card is not None:
                self.card.shown_at = now

    def _look_at_top(self) -> None:
        if self.card is not None:
            self.status.session_name = self.card.query.session

    def _send(self, request: Sent) -> Sent:
        self.sent[request.ticket] = request
        return request

    def _ticket(self) -> int:
        self._tickets += 1
        return self._tickets

    def _forget(self, query: Query) -> None:
        self.history = [done for done in self.history if done.query is not query]

    def _notify(self, kind: str, text: str, query: Query | None = None) -> None:
        self.notices.append(Notice(kind, text, query))


def _same(one: Query, other: Query) -> bool:
    return one.session == other.session and one.observation_id == other.observation_id
