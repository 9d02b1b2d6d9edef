"""The vote of each labeler on each row, computed from the label log."""

from collections.abc import Iterable, Mapping
from sys import intern

from svddtune.state.session import LabelEvent, Verdict

VotesOfRow = Mapping[int, Mapping[str, int]]
"""Row -> labeler -> +1 inlier, -1 outlier, 0 unsure."""


class VoteLog:
    """The votes and withdrawals after the events added so far."""

    def __init__(self) -> None:
        # Includes votes of withdrawn labelers, which count again after a reinstatement.
        self.votes: dict[int, dict[str, Verdict]] = {}
        self.withdrawn: set[str] = set()
        # Votes of adjudicators that decide, by row and labeler.
        self.deciding: set[tuple[int, str]] = set()
        # The rules behind votes, of those that have one, by row and labeler.
        self.provenances: dict[tuple[int, str], str] = {}

    def add(self, event: LabelEvent) -> None:
        """Take the next event into account; kinds that do not change votes have no effect."""
        if event.kind == "LABELED":
            # Interned: one string per labeler in memory, not one per event.
            self.votes.setdefault(event.row, {})[intern(event.labeler)] = event.verdict
            self.provenances.pop((event.row, event.labeler), None)
            self.deciding.discard((event.row, event.labeler))
            if event.adjudicates:
                self.deciding.add((event.row, intern(event.labeler)))
            if event.provenance:
                self.provenances[event.row, intern(event.labeler)] = intern(event.provenance)
        elif event.kind == "RETRACTED":
            self.votes.get(event.row, {}).pop(event.labeler, None)
        elif event.kind == "WITHDRAWN":
            self.withdrawn.add(event.labeler)
        elif event.kind == "REINSTATED":
            self.withdrawn.discard(event.labeler)

    def in_force(self) -> dict[int, dict[str, Verdict]]:
        """Return the votes that count, by row; rows without any are left out."""
        counted = {
            row: {name: verdict for name, verdict in votes.items() if name not in self.withdrawn}
            for row, votes in self.votes.items()
        }
        return {row: votes for row, votes in counted.items() if votes}

    def that_decide(self) -> dict[int, dict[str, Verdict]]:
        """Return those of the votes that count from which the label follows, by row.

        They are all votes on the row or, where an adjudicator decided, the last one that did.
        """
        found = self.in_force()
        if self.deciding:
            for row, votes in found.items():
                judges = [name for name in votes if (row, name) in self.deciding]
                if judges:
                    found[row] = {judges[-1]: votes[judges[-1]]}
        return found


def votes_in_force(events: Iterable[LabelEvent]) -> dict[int, dict[str, Verdict]]:
    """Return the votes that count at the end of a log.

    Parameters
    ----------
    events : iterable of LabelEvent
        Oldest first.

    Returns
    -------
    dict
        Row -> labeler -> verdict, UNSURE included. The latest vote of a labeler on a row counts,
        unless it was retracted or the labeler is withdrawn. Rows without votes are left out.
    """
    log = VoteLog()
    for event in events:
        log.add(event)
    return log.in_force()
