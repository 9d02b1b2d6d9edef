"""Updates a labeler's votes in a session to the verdicts of tickets."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from svddtune.client.errors import LeaseLost, SvddtuneError
from svddtune.client.json_values import jsonable
from svddtune.client.tickets.identity import Identity, source_reference
from svddtune.client.tickets.ledger import Decision
from svddtune.client.tickets.oracle import TicketOracle
from svddtune.client.tuning import Tuning
from svddtune.client.types import Ack, Judgement, Label, LabelCounts, LabelEvent, Query, SkipMode

_NAMESPACE = uuid.UUID("5f0a3d0e-6d1c-5a5b-9a54-6b1f4f2f9d11")
# Errors of one label. All other errors end the replay.
_OF_ONE_LABEL = frozenset(
    {
        "UNKNOWN_OBSERVATION",
        "ALREADY_ANSWERED",
        "OBSERVATION_MISMATCH",
        "NOT_LABELED",
        "UNKNOWN_QUERY",
        "LEASE_LOST",
    }
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A label that the session did not take, with its reason."""

    observation_id: str
    ticket: str
    reason: str
    message: str


@dataclass(slots=True)
class Sent:
    """The counts of a replay so far.

    answered and skipped: queries, with and without a verdict; labelled: verdicts given unasked;
    corrected and retracted: earlier votes; unused: came too late to count; left: known verdicts for
    which the budget has no room.
    """

    answered: int = 0
    skipped: int = 0
    labelled: int = 0
    corrected: int = 0
    retracted: int = 0
    unused: int = 0
    left: int = 0
    refused: list[Refusal] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return jsonable(self)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _Vote:
    """The labeler's vote on an observation, and the id of its last answer.

    There is no judgement where it is retracted, or came too late to count.
    """

    judgement: Judgement | None
    answer_id: str


class Replay:
    """Labels one session for one labeler, by tickets.

    What the labeler said before is in the session's log; only differences are sent. The id of an
    answer follows from session, ticket, observation, judgement, lease and the answer before it, so
    that the same step taken again, after a restart in the middle, has one effect.

    Parameters
    ----------
    session : str
        Name of the session `tuning` serves.
    log : iterable of LabelEvent
        The session's label log, oldest first.
    """

    def __init__(
        self, oracle: TicketOracle, tuning: Tuning, session: str, log: Iterable[LabelEvent]
    ) -> None:
        self._oracle = oracle
        self._tuning = tuning
        self._session = session
        self._votes = _votes(log, tuning.labeler)
        # Refused labels; they are sent again only if the tickets change.
        self._given_up: set[tuple[str, Judgement | None]] = set()
        self.sent = Sent()

    def answer(self, query: Query) -> None:
        """Answer a query, or pass it to others where the tickets give no verdict."""
        name = query.observation_id
        decision = self._oracle.decision(name)
        try:
            if decision.judgement is None:
                self._tuning.skip(query, SkipMode.OTHERS)
                self.sent.skipped += 1
                return
            answer_id = self._answer_id(name, decision.ticket, decision.judgement, query.lease_id)
            ack = self._tuning.answer(
                query,
                decision.judgement,
                source_reference=source_reference(decision.ticket),
                answer_id=answer_id,
            )
        except LeaseLost:
            return  # somebody else has it by now
        except SvddtuneError as error:
            self._refused(name, decision, error)
            return
        self._note(name, decision.judgement, answer_id, ack)
        self.sent.answered += 1

    def correct(self, names: Iterable[str] | None = None) -> None:
        """Replace or retract earlier votes that the tickets no longer support.

        Parameters
        ----------
        names : iterable of str, optional
            Observations to check; default all with a vote.
        """
        for name in list(self._votes) if names is None else names:
            vote = self._votes.get(name)
            if vote is None or vote.judgement is None:
                continue
            decision = self._oracle.decision(name)
            if (name, decision.judgement) in self._given_up:
                continue
            if decision.judgement is None:
                self._retract(name, decision)
            elif decision.judgement != vote.judgement:
                self._replace(name, decision, decision.judgement)

    def label_all(self) -> None:
        """Give all known verdicts that were not given, as far as the budget allows.

        Where it has not room for all, those given are drawn uniformly: by a hash of session and
        observation, so that the draw is the same after a restart.
        """
        new = [
            (name, decision)
            for name, decision in self._oracle.decisions().items()
            if decision.judgement is not None
            and (name not in self._votes or self._votes[name].judgement is None)
            and (name, decision.judgement) not in self._given_up
        ]
        new.sort(key=lambda item: uuid.uuid5(_NAMESPACE, f"{self._session}\0{item[0]}").hex)
        room = self._room()
        while new and room:
            now, new = new[:room], new[room:]
            room = self._label(now)
        self.sent.left = len(new)

    def _label(self, batch: Sequence[tuple[str, Decision]]) -> int:
        """Give verdicts unasked; return for how many more the budget has room."""
        answer_ids = {
            name: self._answer_id(name, decision.ticket, decision.judgement)
            for name, decision in batch
        }
        outcome = self._tuning.label_all(
            (
                Label(
                    name,
                    decision.judgement.verdict,
                    source_reference(decision.ticket),
                    decision.judgement.confidence,
                )
                for name, decision in batch
                if decision.judgement is not None
            ),
            answer_ids=answer_ids,
        )
        refused = {one.observation_id: one.error for one in outcome.refused}
        for name, decision in batch:
            if name not in refused:
                self._votes[name] = _Vote(decision.judgement, answer_ids[name])
                self.sent.labelled += 1
        for name, decision in batch:
            if name in refused:
                self._refused(name, decision, refused[name])
        return self._room(outcome.counts)

    def _replace(self, name: str, decision: Decision, judgement: Judgement) -> None:
        answer_id = self._answer_id(name, decision.ticket, judgement)
        try:
            ack = self._tuning.label(
                name,
                judgement,
                source_reference=source_reference(decision.ticket),
                answer_id=answer_id,
                replace=True,
            )
        except SvddtuneError as error:
            self._refused(name, decision, error)
            return
        self._note(name, judgement, answer_id, ack)
        self.sent.corrected += 1

    def _retract(self, name: str, decision: Decision) -> None:
        answer_id = self._answer_id(name, None, None)
        try:
            ack = self._tuning.retract(name, answer_id=answer_id)
        except SvddtuneError as error:
            self._refused(name, decision, error)
            return
        self._note(name, None, answer_id, ack)
        self.sent.retracted += 1

    def _room(self, counts: LabelCounts | None = None) -> int:
        """Labels that are left in the budget, by these counts or those last heard of."""
        # (The counts are known once the session is.)
        budget = self._tuning.session.config.budget
        return max(0, budget - (counts or self._tuning.counts).total)

    def _note(self, name: str, judgement: Judgement | None, answer_id: str, ack: Ack) -> None:
        if ack.applied:
            self._votes[name] = _Vote(judgement, answer_id)
        else:
            self._votes[name] = _unused(self._votes, name, answer_id)
            self._given_up.add((name, judgement))
            self.sent.unused += 1

    def _refused(self, name: str, decision: Decision, error: SvddtuneError) -> None:
        if error.reason not in _OF_ONE_LABEL:
            raise error
        self._given_up.add((name, decision.judgement))
        ticket = decision.ticket.text if decision.ticket else ""
        self.sent.refused.append(Refusal(name, ticket, error.reason, error.message))

    def _answer_id(
        self, name: str, ticket: Identity | None, judgement: Judgement | None, lease_id: str = ""
    ) -> str:
        before = self._votes.get(name)
        parts = (
            self._session,
            *(ticket or ("", "")),
            name,
            _words(judgement),
            before.answer_id if before else "",
            lease_id,
        )
        return str(uuid.uuid5(_NAMESPACE, "\0".join(parts)))


def _words(judgement: Judgement | None) -> str:
    if judgement is None:
        return "retracted"
    sure = judgement.confidence
    return judgement.verdict.value if sure is None else f"{judgement.verdict.value} {sure!r}"


def _votes(log: Iterable[LabelEvent], labeler: str) -> dict[str, _Vote]:
    votes: dict[str, _Vote] = {}
    for event in log:
        if event.labeler != labeler:
            continue
        name = event.observation_id
        if event.kind == "labeled":
            said = None if event.verdict is None else Judgement(event.verdict, event.confidence)
            votes[name] = _Vote(said, event.answer_id)
        elif event.kind == "retracted":
            votes[name] = _Vote(None, event.answer_id)
        elif event.kind == "unused":
            votes[name] = _unused(votes, name, event.answer_id)
    return votes


def _unused(votes: Mapping[str, _Vote], name: str, answer_id: str) -> _Vote:
    """Return the vote as it was, after an answer that came too late: its id is used up."""
    before = votes.get(name)
    return _Vote(before.judgement if before else None, answer_id)
