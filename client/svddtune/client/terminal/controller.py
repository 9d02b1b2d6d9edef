"""The labeler's desk, without I/O: commands and news in, orders out.

A question lies on the desk from the moment it came until it is answered, skipped or lost. What was
answered stays in the history, so that it can be taken back, newest first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from svddtune.client.errors import SvddtuneError
from svddtune.client.terminal.commands import Command, Key
from svddtune.client.terminal.requests import (
    LOST,
    SKIPPED,
    Ask,
    Card,
    Done,
    Leave,
    Order,
    Relabel,
    Remark,
    Retract,
    Sent,
    Skip,
    Submit,
)
from svddtune.client.terminal.status import Known
from svddtune.client.types import Ack, Query, SkipMode, Verdict

# A key pressed sooner after a question has come was meant for the one before.
GUARD_S = 0.2
_PACES = 20


@dataclass(slots=True)
class Desk:
    """What one labeler sees and does.

    Parameters
    ----------
    credit : int
        Queries to hold at once.
    confirm_drop : bool
        False for programs, which do not slip on a keyboard.
    guard_s : float
        Time after a question has come during which verdicts are not taken.
    """

    credit: int = 1
    confirm_drop: bool = True
    guard_s: float = GUARD_S

    hand: list[Card] = field(default_factory=list)
    history: list[Done] = field(default_factory=list)
    sent: dict[int, Sent] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    known: Known = field(default_factory=Known)
    finished: str = ""
    confirming: bool = False
    helping: bool = False
    quitting: bool = False
    paces_s: list[float] = field(default_factory=list)
    _all_features: bool = False
    # Tickets whose fate is of no interest to the labeler.
    _unsaid: set[int] = field(default_factory=set)
    _asking: bool = False
    _tickets: int = 0

    @property
    def card(self) -> Card | None:
        """The question that is to be answered now."""
        return self.hand[0] if self.hand else None

    @property
    def unsent(self) -> int:
        """Answers that are not acknowledged yet."""
        return sum(1 for one in self.sent.values() if isinstance(one, Submit | Relabel))

    def takes(self, command: Command) -> bool:
        """Return whether the command means something now; without a question only some do."""
        return self.card is not None or isinstance(command, Key)

    def start(self) -> list[Order]:
        """Return the first orders."""
        return self._next()

    # What the labeler says

    def command(self, now: float, command: Command, number: int | None = None) -> list[Order]:
        """Do what the labeler wants; `number` is that of the query meant, where it was named."""
        if self.helping:
            self.helping = False
            if command is not Key.QUIT:
                return []
        if command is Key.QUIT:
            return self.quit()
        if self.confirming:
            return self._confirmed(now, command)
        card = self.card
        if isinstance(command, Key):
            return self._wish(now, command)
        if card is None or self.quitting:
            return []
        if number is not None and number != card.query.number:
            self._remark(
                "refused", f"Query {number} is not the one asked now ({card.query.number})"
            )
            return []
        if now - card.shown_at < self.guard_s:
            return []
        if isinstance(command, Verdict):
            return self._answer(now, card, command)
        if command is SkipMode.DROP and self.confirm_drop:
            self.confirming = True
            return []
        return self._skip(now, card, command)

    def mistyped(self, text: str) -> None:
        """Something was typed that means nothing."""
        if self.helping:
            self.helping = False
        elif self.confirming:
            self._keep()
        else:
            self._remark("refused", f"{text!r} means nothing; ? tells what does")

    def quit(self) -> list[Order]:
        """Stop: no further questions, and leave once all answers are acknowledged."""
        self.quitting = True
        self.confirming = False
        return self._next()

    def _wish(self, now: float, key: Key) -> list[Order]:
        if key is Key.UNDO:
            return self._undo(now)
        if key is Key.HELP:
            self.helping = True
        elif key is Key.FEATURES:
            self._all_features = self.card is not None
        return []

    def _confirmed(self, now: float, command: Command) -> list[Order]:
        card = self.card
        if command is Key.YES and card is not None:
            self.confirming = False
            return self._skip(now, card, SkipMode.DROP)
        self._keep()
        return []

    def _keep(self) -> None:
        self.confirming = False
        self._remark("info", "Not dropped")

    def _answer(self, now: float, card: Card, verdict: Verdict) -> list[Order]:
        self._take_off(now, card)
        self.history.append(Done(card.query, verdict, now))
        self.paces_s = [*self.paces_s, now - card.shown_at][-_PACES:]
        kind = Submit if card.leased else Relabel
        return [self._send(kind(self._ticket(), card.query, verdict)), *self._next()]

    def _skip(self, now: float, card: Card, mode: SkipMode) -> list[Order]:
        if card.leased:
            self._take_off(now, card)
            return [self._send(Skip(self._ticket(), card.query, mode)), *self._next()]
        if mode is not SkipMode.LATER:
            self._remark(
                "refused",
                f"Query {card.query.number} was answered before: answer it again, or skip it to "
                "leave it open",
            )
            return []
        self._take_off(now, card)
        self._remark("skipped", "left open", card.query)
        return self._next()

    def _undo(self, now: float) -> list[Order]:
        if self.quitting or self.finished:
            return []
        if not self.history:
            self._remark("refused", "There is no answer of this run to take back")
            return []
        done = self.history.pop()
        card = Card(done.query, leased=False, taken_back=done.verdict, shown_at=now)
        self.hand.insert(0, card)
        self.known.session_name = done.query.session
        return [self._send(Retract(self._ticket(), done.query, done.verdict))]

    # What the service says

    def came(self, now: float, query: Query, names: tuple[str, ...] = ()) -> list[Order]:
        """A query is ours now; `names` are those of its features, where they are known."""
        self._asking = False
        self.known.waiting = ""
        self.known.name_features(query.session, names)
        if any(isinstance(one, Relabel) and _same(one.query, query) for one in self.sent.values()):
            # Taken back, leased anew and answered again, all at once: that answer is on the way.
            skip = Skip(self._ticket(), query, SkipMode.LATER)
            self._unsaid.add(skip.ticket)
            return [self._send(skip), *self._next()]
        again = next((c for c in self.hand if not c.leased and _same(c.query, query)), None)
        if again is not None:
            again.query, again.leased = query, True
        else:
            self.hand.append(Card(query, leased=True, shown_at=now))
        self._look_at_top()
        return self._next()

    def lost(self, now: float, query: Query, reason: str) -> list[Order]:
        """A query that lay on the desk is not ours any more."""
        card = next((c for c in self.hand if c.leased and c.query is query), None)
        if card is None:
            return []
        self._take_off(now, card)
        self._remark("lost", LOST.get(reason, LOST[""]), query)
        return self._next()

    def stored(self, now: float, ticket: int, ack: Ack) -> list[Order]:
        """Something sent is acknowledged."""
        sent = self.sent.pop(ticket)
        if ticket in self._unsaid:
            return self._next()
        if not isinstance(sent, Skip):
            self.known.count(sent.query.session, ack.counts)
        match sent:
            case Skip(mode=mode):
                self._remark("skipped", SKIPPED[mode], sent.query)
            case Retract():
                self._remark("undone", f"{sent.verdict.value} taken back", sent.query)
            case Submit() | Relabel() if not ack.applied:
                self._forget(sent.query)
                self._remark("lost", f"{sent.verdict.value} came too late to count", sent.query)
            case Submit() | Relabel():
                self._remark("stored", sent.verdict.value, sent.query)
        return self._next()

    def refused(self, now: float, ticket: int, error: SvddtuneError) -> list[Order]:
        """Something sent is not taken."""
        sent = self.sent.pop(ticket)
        if ticket in self._unsaid:
            return self._next()
        if isinstance(sent, Retract):
            if (
                error.reason != "NOT_LABELED"
            ):  # nothing to take back: it is asked again all the same
                card = next((c for c in self.hand if c.query is sent.query), None)
                if card is not None and not card.leased:
                    self._take_off(now, card)
                self._remark("refused", f"not taken back: {error.message}", sent.query)
        else:
            self._forget(sent.query)
            self._remark("refused", f"not stored: {error.message}", sent.query)
        return self._next()

    def waits(self, now: float, sentence: str) -> list[Order]:
        """Nothing was asked for a while; `sentence` says why, empty where that is not known."""
        self.known.waiting = sentence
        return []

    def ended(self, now: float, reason: str) -> list[Order]:
        """Nothing more is asked."""
        self._asking = False
        self.finished = reason
        for card in list(self.hand):
            self._take_off(now, card)
        return self._next()

    @property
    def mark(self) -> tuple[object, ...]:
        """Something that is equal as long as the desk looks the same."""
        card = self.card
        shown = card and (card.query.session, card.query.number, card.query.lease_id)
        known = (
            self.known.connected,
            self.known.counts,
            id(self.known.session),
            self.known.waiting,
        )
        state = (self.finished, self.confirming, self.helping, self.quitting)
        return (shown, known, state, len(self.sent), len(self.history))

    def take_wish_for_all_features(self) -> bool:
        """Return, once, whether the labeler wants to see all features."""
        wish, self._all_features = self._all_features, False
        return wish

    def heard(self) -> list[Remark]:
        """Return the remarks since the last call."""
        remarks, self.remarks = self.remarks, []
        return remarks

    def _next(self) -> list[Order]:
        if self.quitting or self.finished:
            return [] if self.sent else [Leave()]
        held = sum(1 for card in self.hand if card.leased)
        if self._asking or held >= self.credit:
            return []
        self._asking = True
        return [Ask()]

    def _take_off(self, now: float, card: Card) -> None:
        on_top = card is self.card
        self.hand.remove(card)
        if on_top:
            self.confirming = False
            self._look_at_top()
            if self.card is not None:
                self.card.shown_at = now

    def _look_at_top(self) -> None:
        if self.card is not None:
            self.known.session_name = self.card.query.session

    def _send(self, order: Sent) -> Sent:
        self.sent[order.ticket] = order
        return order

    def _ticket(self) -> int:
        self._tickets += 1
        return self._tickets

    def _forget(self, query: Query) -> None:
        self.history = [done for done in self.history if done.query is not query]

    def _remark(self, kind: str, text: str, query: Query | None = None) -> None:
        self.remarks.append(Remark(kind, text, query))


def _same(one: Query, other: Query) -> bool:
    return one.session == other.session and one.observation_id == other.observation_id
