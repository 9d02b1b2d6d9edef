"""Labels in force and how certain they are, from votes, by the session's aggregation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from svddtune import numerics
from svddtune.agreement import agreement
from svddtune.config import Numbers
from svddtune.numerics import FloatArray, IndexArray, LabelArray
from svddtune.state.workspace import Snapshot

# The EM algorithm of Dawid and Skene ends in probabilities of 0 and 1 where votes are few.
MOST_CERTAIN = 0.99

_NO_ROWS = np.empty(0, dtype=np.int64)


def majority(votes: Mapping[str, int]) -> int:
    """Return the majority vote, +1 or -1; 0 for a tie and if nobody is sure."""
    return int(np.sign(sum(votes.values())))


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels in force."""

    # +1, -1, 0.
    values: LabelArray
    # Probability that each is right, see `numerics.believe`; None where all are certain.
    certainty: FloatArray | None
    # Rate of wrong answers that this rests on.
    noise: float = 0.0


def labels_in_force(snapshot: Snapshot, *, without: IndexArray = _NO_ROWS) -> Labels:
    """Labels in force as arrays.

    ``without`` names rows that are left out, with all that their votes tell about labelers. Raises
    DawidSkeneUnavailable where the session wants this estimate and the worker cannot make it.
    """
    values: LabelArray = np.zeros(snapshot.session.observation_count, dtype=np.int8)
    for row, verdict in snapshot.labels.items():
        values[row] = verdict
    values[without] = 0
    left_out = set(without.tolist())
    votes = {row: given for row, given in snapshot.votes.items() if row not in left_out}
    weighted = snapshot.session.config.aggregation == "dawid_skene"
    chances = numerics.dawid_skene(votes) if weighted else {}
    several = _several(votes)
    noise, comparable = _label_noise(snapshot, several), bool(several)
    # What an adjudicator decided rests on that vote alone.
    for row, judge in snapshot.decided_by.items():
        if judge in votes.get(row, {}):
            votes[row] = {judge: votes[row][judge]}
            chances.pop(row, None)
    rows = numerics.types.labelled_rows(values).tolist()
    certainty = np.ones(len(values))
    trusts = snapshot.session.config.trusts
    if not chances and not snapshot.confidences and not trusts and noise <= 0.0:
        # Every vote is taken as right, as `label_certainty` takes votes that cannot be wrong.
        nothing: dict[str, int] = {}
        balance = [sum(votes.get(row, nothing).values()) for row in rows]
        certainty[rows] = np.where(np.array(balance) * values[rows] > 0, 1.0, 0.5)
        return Labels(values, None if (certainty[rows] == 1.0).all() else certainty, noise)
    # What was known at the start is taken as true, unless somebody had answered it elsewhere or was
    # asked about it again.
    known = {
        row
        for row in snapshot.initial_rows - snapshot.answered_rows
        if not snapshot.asked_by.get(row)
    }
    for row in rows:
        said, confidence = votes.get(row, {}), snapshot.confidences.get(row, {})
        e = 0.0 if row in known else noise
        if row in chances:
            values[row] = -1 if chances[row] > 0.5 else 1
            if comparable and e > 0.0:
                certainty[row] = min(max(chances[row], 1.0 - chances[row]), MOST_CERTAIN)
                continue
        certainty[row] = _label_certainty(
            int(values[row]),
            tuple(said.values()),
            tuple(_wrong(confidence.get(name), trusts.get(name), e) for name in said),
        )
    return Labels(values, None if (certainty[rows] == 1.0).all() else certainty, noise)


def _wrong(confidence: float | None, trust: float | None, otherwise: float) -> float:
    """Probability that a vote is wrong: by its labeler, else by the trust in its labeler."""
    right = trust if confidence is None else confidence
    return otherwise if right is None else 1.0 - right


# Most rows have votes like those of many others.
_label_certainty = lru_cache(maxsize=1024)(numerics.label_certainty)


def _label_noise(snapshot: Snapshot, several: list[list[int]]) -> float:
    """Rate of wrong votes: the session's setting, or an estimate from rows with several votes.

    Without either the labels are taken as true: 0.
    """
    given = snapshot.session.config.label_noise
    if given is not None:
        return given
    return numerics.estimate_noise(several) if several else 0.0


def _several(votes: Mapping[int, Mapping[str, int]]) -> list[list[int]]:
    """The votes on rows that have several that say something."""
    return [
        list(said.values())
        for said in votes.values()
        if len(said) > 1 and sum(map(abs, said.values())) > 1
    ]


def effective_labels(snapshot: Snapshot, *, without: IndexArray = _NO_ROWS) -> LabelArray:
    """The values of ``labels_in_force``."""
    return labels_in_force(snapshot, without=without).values


def without_votes_of(snapshot: Snapshot, labeler: str) -> Snapshot:
    """The snapshot as it would be without a labeler's votes."""
    labels, left = dict(snapshot.labels), dict(snapshot.votes)
    for row, votes in snapshot.votes.items():
        if labeler in votes:
            left[row] = {name: verdict for name, verdict in votes.items() if name != labeler}
            if snapshot.decided_by.get(row, labeler) == labeler:
                labels[row] = majority(left[row])
    return replace(
        snapshot, labels={row: verdict for row, verdict in labels.items() if verdict}, votes=left
    )


def vote_notes(snapshot: Snapshot, labels: LabelArray, noise: float) -> Iterator[str]:
    """Sentences on repeated votes: how many, how well they agree, how they are used.

    ``labels`` and ``noise`` are those that the result was computed from.
    """
    config = snapshot.session.config
    given = [votes for votes in snapshot.votes.values() if votes]
    found = agreement(snapshot.votes)
    if found.observations:
        mean = sum(map(len, given)) / len(given)
        yield (
            f"{found.observations} of {len(given)} observations have several votes; "
            f"{100 * found.observed:.0f}% of the pairs of votes agree. On average an "
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
    voters = {name for votes in given for name in votes}
    trusted = {name: right for name, right in config.trusts.items() if name in voters}
    if config.needs_atlas and trusted:
        yield (
            "Answers of these labelers are taken as right with the probability that is set for "
            f"each: {Numbers(trusted)}."
        )
    if config.needs_atlas and noise > 0.0:
        source = "estimated from these votes" if config.label_noise is None else "as set"
        yield (
            f"An answer is taken as wrong with probability {noise:.2g} ({source}), so labels that "
            "others contradict count less."
        )
