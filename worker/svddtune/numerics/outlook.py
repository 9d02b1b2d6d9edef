"""What the labels say beyond the best cell: the share of outliers, the gain of further labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import Belief, BeliefBasis, believe
from svddtune.numerics.evidence import Evidence, weigh
from svddtune.numerics.gain import Gains, knowledge_committee, knowledge_gains, rank_by_gain
from svddtune.numerics.prospect import AHEAD, expected_gain, possible_gain
from svddtune.numerics.scores import class_counts
from svddtune.numerics.share import ShareEstimate, share_by_belief
from svddtune.numerics.types import FloatArray, IndexArray, LabelArray

LEAST_LABELS = 10
"""Labels below which there is no outlook: it was measured from here on."""
GAIN_STRATEGIES: frozenset[str] = frozenset(("knowledge_gradient", "mixed"))
"""Strategies whose next queries the expected gain describes, at least in part."""

_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The share of outliers among all rows, and what the next labels are expected to gain.

    Attributes
    ----------
    share : ShareEstimate
        By the belief.
    gain : float or None
        Rise of true kappa on all rows that the next `AHEAD` labels are expected to bring; not
        negative. None where the queries are not ranked by the knowledge gradient, or where the
        evidence is not that of kappa.
    """

    share: ShareEstimate
    gain: float | None


@dataclass(frozen=True, slots=True)
class Prospect:
    """Rows that the knowledge gradient asks about next, best first, and the gains behind it.

    Attributes
    ----------
    gains : Gains
        Of the committee.
    places : IndexArray, shape (n,)
        Positions in the panel.
    kappas : FloatArray, shape (T,)
        Expected kappa of the committee's cells.
    """

    gains: Gains
    places: IndexArray
    kappas: FloatArray

    def possible(self, basis: BeliefBasis, belief: Belief) -> float:
        """Return the `possible_gain` of the next `AHEAD` labels."""
        return possible_gain(self.gains, basis, belief, self.places[:AHEAD], self.kappas)


def has_outlook(labels: LabelArray) -> bool:
    """Whether both classes have labels, and there are enough."""
    return min(class_counts(labels)) > 0 and sum(class_counts(labels)) >= LEAST_LABELS


def outlook_of(
    basis: BeliefBasis, belief: Belief, labels: LabelArray, prospect: Prospect | None
) -> Outlook | None:
    """Return the outlook from what a ranking has computed.

    Parameters
    ----------
    basis : BeliefBasis
        Of the data.
    belief : Belief
        Given the labels.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    prospect : Prospect or None
        With the metric "kappa". None gives no gain.

    Returns
    -------
    Outlook or None
        None while a class has no label, and below `LEAST_LABELS` labels.
    """
    if not has_outlook(labels):
        return None
    gain = None if prospect is None else expected_gain(prospect.possible(basis, belief))
    return Outlook(share_by_belief(basis, belief, labels), gain)


def prospect_of(
    atlas: Atlas, basis: BeliefBasis, belief: Belief, evidence: Evidence, candidates: IndexArray
) -> Prospect | None:
    """Rank the next `AHEAD` rows by the knowledge gradient.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    basis : BeliefBasis
        Of the data of the atlas.
    belief : Belief
        Given the labels.
    evidence : Evidence
        Given the same, with the metric "kappa".
    candidates : IndexArray, shape (S,)
        Positions in the panel that may be asked about.

    Returns
    -------
    Prospect or None
        None where no cell of the atlas separates some rows from others.
    """
    if len(atlas.voters) == 0:
        return None
    committee = knowledge_committee(atlas, evidence)
    gains, places = knowledge_gains(atlas, basis, belief, committee), _NO_ROWS
    if len(candidates):
        places, _ = rank_by_gain(
            gains, basis, belief, candidates, reserve=AHEAD, rng=np.random.default_rng(0)
        )
    return Prospect(gains, places, evidence.expected[committee.cells])


def outlook(
    atlas: Atlas,
    basis: BeliefBasis,
    labels: LabelArray,
    *,
    gain: bool,
    exclude: IndexArray = _NO_ROWS,
    certainty: FloatArray | None = None,
) -> Outlook | None:
    """Return the outlook from the labels; `suggest` has it from what it computes anyway.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    basis : BeliefBasis
        Of the same data.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    gain : bool
        Whether to compute the gain.
    exclude : IndexArray
        Rows that are never asked about.
    certainty : FloatArray, shape (N,), optional
        As in `believe`.

    Returns
    -------
    Outlook or None
        As `outlook_of`.
    """
    if not has_outlook(labels):
        return None
    belief, prospect = believe(basis, labels, certainty=certainty), None
    if gain:
        askable = labels == 0
        askable[exclude] = False
        candidates = np.flatnonzero(askable[basis.panel])
        prospect = prospect_of(atlas, basis, belief, weigh(atlas, belief, labels), candidates)
    return outlook_of(basis, belief, labels, prospect)
