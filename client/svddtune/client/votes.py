"""The labels in force, computed from a session's label log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from svddtune.client.shown import Shown
from svddtune.client.types import LabelEvent, Verdict


@dataclass(frozen=True, slots=True, repr=False)
class LabelInForce(Shown):
    """What the votes on an observation come to.

    Attributes
    ----------
    observation_id : str
    row : int
        Its row in the dataset, from 0.
    verdict : Verdict
        What an adjudicator decided, or what most votes say that are not "unsure"; "unsure" where
        they are equally many.
    votes : tuple of LabelEvent
        The votes that count, by labeler: the last one of each who has not taken it back and is not
        withdrawn.
    """

    observation_id: str
    row: int
    verdict: Verdict
    votes: tuple[LabelEvent, ...]


def labels_in_force(events: Iterable[LabelEvent]) -> tuple[LabelInForce, ...]:
    """Return the labels at the end of a label log, by row.

    Parameters
    ----------
    events : iterable of LabelEvent
        Oldest first, as `TuningClient.labels` yields them.

    Returns
    -------
    tuple of LabelInForce
        One for each observation with a vote that counts.
    """
    votes = dict[int, dict[str, LabelEvent]]()
    withdrawn = set[str]()
    for event in events:
        if event.kind == "labeled":
            votes.setdefault(event.row, {})[event.labeler] = event
        elif event.kind == "retracted":
            votes.get(event.row, {}).pop(event.labeler, None)
        elif event.kind == "withdrawn":
            withdrawn.add(event.labeler)
        elif event.kind == "reinstated":
            withdrawn.discard(event.labeler)
    found = []
    for row, by_labeler in sorted(votes.items()):
        counted = tuple(vote for name, vote in sorted(by_labeler.items()) if name not in withdrawn)
        if counted:
            # (By labeler in the order first given; the last that decides counts.)
            deciding = [
                vote
                for name, vote in by_labeler.items()
                if vote.adjudicates and name not in withdrawn
            ]
            verdict = _verdict(deciding[-1:] or counted)
            found.append(LabelInForce(counted[0].observation_id, row, verdict, counted))
    return tuple(found)


def _verdict(votes: Iterable[LabelEvent]) -> Verdict:
    total = sum(vote.verdict.sign for vote in votes if vote.verdict is not None)
    if total == 0:
        return Verdict.UNSURE
    return Verdict.INLIER if total > 0 else Verdict.OUTLIER
