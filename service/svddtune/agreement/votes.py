"""Votes: what each labeler says of each row, as a fold over the label log."""

from collections.abc import Iterable, Mapping
from sys import intern

from svddtune.state.session import LabelEvent, Verdict

VotesOfRow = Mapping[int, Mapping[str, int]]
"""Row -> labeler -> +1 inlier, -1 outlier, 0 unsure."""


class VoteLog:
    """What the log says up to the event added last."""

    def __init__(self) -> None:
        # Also votes of withdrawn labelers: they count again when these are reinstated.
        self.votes: dict[int, dict[str, Verdict]] = {}
        self.withdrawn: set[str] = set()

    def add(self, event: LabelEvent) -> None:
        """Take the next event into account; kinds without effect on votes are passed over."""
        if event.kind == "LABELED":
            # (One string for each labeler, not one for each event.)
            self.votes.setdefault(event.row, {})[intern(event.labeler)] = event.verdict
        elif event.kind == "RETRACTED":
            self.votes.get(event.row, {}).pop(event.labeler, None)
        elif event.kind == "WITHDRAWN":
            self.withdrawn.add(event.labeler)
        elif event.kind == "REINSTATED":
            self.withdrawn.discard(event.labeler)

    def in_force(self) -> dict[int, dict[str, Verdict]]:
        """Votes that count, by row; rows without any are left out."""
        counted = {
            row: {name: verdict for name, verdict in votes.items() if name not in self.withdrawn}
            for row, votes in self.votes.items()
        }
        return {row: votes for row, votes in counted.items() if votes}


def votes_in_force(events: Iterable[LabelEvent]) -> dict[int, dict[str, Verdict]]:
    """Votes that count at the end of a log.

    Parameters
    ----------
    events : iterable of LabelEvent
        Oldest first.

    Returns
    -------
    dict
        Row -> labeler -> verdict, UNSURE included: of each labeler the latest vote on a row,
        unless it was retracted or the labeler is withdrawn. Rows without votes are left out.
    """
    log = VoteLog()
    for event in events:
        log.add(event)
    return log.in_force()
