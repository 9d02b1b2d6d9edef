"""Labels in force, from votes, by the session's aggregation."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from svddtune import numerics
from svddtune.agreement import agreement
from svddtune.numerics import IndexArray, LabelArray
from svddtune.state.workspace import Snapshot

_NO_ROWS = np.empty(0, dtype=np.int64)


def majority(votes: Mapping[str, int]) -> int:
    """Return the majority vote, +1 or -1; 0 for a tie and if nobody is sure."""
    return int(np.sign(sum(votes.values())))


def effective_labels(snapshot: Snapshot, *, without: IndexArray = _NO_ROWS) -> LabelArray:
    """Labels in force as an array: +1, -1, 0.

    ``without`` names rows that are left out, with all that their votes tell about labelers. Raises
    DawidSkeneUnavailable where the session wants this estimate and the worker cannot make it.
    """
    labels: LabelArray = np.zeros(snapshot.session.observation_count, dtype=np.int8)
    for row, verdict in snapshot.labels.items():
        labels[row] = verdict
    labels[without] = 0
    if snapshot.session.config.aggregation == "dawid_skene":
        left_out = set(without.tolist())
        estimate = numerics.dawid_skene(
            {row: votes for row, votes in snapshot.votes.items() if row not in left_out}
        )
        for row in np.flatnonzero(labels).tolist():
            labels[row] = estimate.get(row, labels[row])
    return labels


def without_votes_of(snapshot: Snapshot, labeler: str) -> Snapshot:
    """The snapshot as it would be without a labeler's votes."""
    labels, left = dict(snapshot.labels), dict(snapshot.votes)
    for row, votes in snapshot.votes.items():
        if labeler in votes:
            left[row] = {name: verdict for name, verdict in votes.items() if name != labeler}
            labels[row] = majority(left[row])
    return replace(
        snapshot, labels={row: verdict for row, verdict in labels.items() if verdict}, votes=left
    )


def vote_notes(snapshot: Snapshot, labels: LabelArray) -> Iterator[str]:
    """Sentences on repeated votes: how many, how well they agree, how they are used.

    ``labels`` are those that the result was computed from.
    """
    config = snapshot.session.config
    given = [votes for votes in snapshot.votes.values() if votes]
    found = agreement(snapshot.votes)
    if found.observations:
        mean = sum(map(len, given)) / len(given)
        yield (
            f"{found.observations} of {len(given)} observations have several votes; "
            f"{100 * found.observed:.0f} % of the pairs of votes agree. On average an "
            f"observation has {mean:.1f} votes."
        )
    elif config.overlap > 1:
        yield "No observation has several votes, so labelers cannot be compared."
    if config.aggregation == "dawid_skene":
        differing = sum(
            majority(votes) != labels[row]
            for row, votes in snapshot.votes.items()
            if labels[row] != 0
        )
        yield (
            "Labels are estimated by the model of Dawid and Skene, which weights labelers by "
            f"their estimated reliability; {differing} of them differ from the majority vote."
        )
    elif found.observations:
        yield "Labels follow the majority of votes."
