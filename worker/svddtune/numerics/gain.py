"""Knowledge gradient: the row whose label best tells the leading cells apart.

kappa of cell c against the believed probabilities q of "outlier" is num / den with

    num = 2 (N TP_c - P S_c),  den = P (N - S_c) + (N - P) S_c,
    TP_c = sum_x B_cx q_x,  P = sum_x q_x,  S_c = sum_x B_cx,  B_cx = 1 if c calls x an outlier.

Its derivative by q_x is B_cx alpha_c + delta_c with alpha_c = 2 N / den and
delta_c = -2 S_c / den - num (N - 2 S_c) / den^2, and dq/df is about q (1 - q). Only differences
between the cells matter: with the committee's weighted mean subtracted, d_c, and
D_c = d_c q (1 - q), kappa_c less that mean has the posterior variance D_c^T Sigma D_c to first
order. A label of x, which measures f_x with variance 1 / (q_x (1 - q_x)), takes away

    (Sigma D_c)_x^2 / (Sigma_xx + 1 / (q_x (1 - q_x))),

and the gain of x is the committee's weighted mean of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import Belief, BeliefBasis, covariance
from svddtune.numerics.committee import Committee, form_committee
from svddtune.numerics.evidence import Evidence
from svddtune.numerics.types import FloatArray, IndexArray

COMMITTEE_SIZE = 12
SHARPNESS = 10.0

_SHORTLIST = 96  # rows among which the second and later places are settled
_TIE = 1e-6  # relative: sums are in single precision
_LEAST_SLOPE = 1e-9


@dataclass(frozen=True, slots=True)
class Gains:
    """Gains of the rows of the panel, and what it takes to update them after a measurement.

    Attributes
    ----------
    value : FloatArray, shape (P,)
        Expected fall of the variance of kappa differences by a label of the row.
    links : FloatArray, shape (P, T)
        (Sigma D_c)_x, covariance of f_x with the kappa differences.
    noise : FloatArray, shape (P,)
        1 / (q (1 - q)).
    weights : FloatArray, shape (T,)
        Of the committee.
    """

    value: FloatArray
    links: FloatArray
    noise: FloatArray
    weights: FloatArray


def share_of_evidence(atlas: Atlas, evidence: Evidence) -> FloatArray:
    """Return how much of the evidence speaks for each cell, shape (cells,); sum 1, or all 0."""
    committee = form_committee(atlas, evidence.combined, sharpness=SHARPNESS)
    share = np.zeros(len(atlas))
    share[committee.cells] = committee.weights
    return share


def knowledge_committee(atlas: Atlas, evidence: Evidence) -> Committee:
    """Return the cells that the next labels should tell apart."""
    return form_committee(atlas, evidence.combined, sharpness=SHARPNESS, size=COMMITTEE_SIZE)


def gradient(atlas: Atlas, committee: Committee, q: FloatArray, rows: IndexArray) -> FloatArray:
    """Slopes d kappa_c / d q_x of the committee's cells, less their weighted mean.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    committee : Committee
        Leading cells of the atlas.
    q : FloatArray, shape (P,)
        Believed probabilities of the panel.
    rows : IndexArray, shape (Q,)
        Positions in the panel.

    Returns
    -------
    FloatArray, shape (Q, T)
    """
    weights = atlas.sample.weights
    q = q * weights
    N, P, S = float(weights.sum()), float(q.sum()), atlas.panel_sizes[committee.cells]
    B = atlas.panel[committee.cells]
    found = (B @ q.astype(np.float32)).astype(np.float64)
    numerator = 2.0 * (N * found - P * S)
    denominator = P * (N - S) + (N - P) * S
    alpha = 2.0 * N / denominator
    delta = -2.0 * S / denominator - numerator * (N - 2.0 * S) / denominator**2
    slopes = B[:, rows].T * alpha + delta
    return np.asarray(slopes - (slopes @ committee.weights)[:, None])


def knowledge_gains(
    atlas: Atlas, basis: BeliefBasis, belief: Belief, committee: Committee
) -> Gains:
    """Gain of every row of the panel.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    basis : BeliefBasis
        Of the data of the atlas.
    belief : Belief
        Given the labels so far.
    committee : Committee
        Not empty.

    Returns
    -------
    Gains
    """
    q, at = belief.probability, basis.quadrature
    slope = q * (1.0 - q)
    steepness = slope[at] * basis.weights[at] * (len(q) / len(at))
    D = gradient(atlas, committee, q, at) * steepness[:, None]
    single, V = D.astype(np.float32), belief.root
    links = (basis.kernel @ single - V.T @ (V[:, at] @ single)).astype(np.float64)
    noise = 1.0 / np.maximum(slope, _LEAST_SLOPE)
    value = np.square(links) @ committee.weights / (belief.variance + noise)
    return Gains(value, links, noise, committee.weights)


def rank_by_gain(
    gains: Gains,
    basis: BeliefBasis,
    belief: Belief,
    candidates: IndexArray,
    *,
    reserve: int,
    rng: np.random.Generator,
) -> tuple[IndexArray, FloatArray]:
    """Rank rows, each place on the assumption that the rows before it are measured too.

    Parameters
    ----------
    gains : Gains
        From `knowledge_gains`.
    basis : BeliefBasis
        Of the data of the atlas.
    belief : Belief
        Given the labels so far.
    candidates : IndexArray, shape (S,)
        Positions in the panel that may be asked about; at least one.
    reserve : int
        Largest number of places.
    rng : np.random.Generator
        Settles ties.

    Returns
    -------
    positions : IndexArray, shape (n,)
        In the panel.
    values : FloatArray, shape (n,)
        Gain of each when it was placed.
    """
    shuffled = rng.permutation(candidates)
    first = int(shuffled[_first_best(gains.value[shuffled])])
    count = min(reserve, len(candidates))
    if count == 1:
        return np.array([first]), gains.value[[first]]
    others = shuffled[np.argsort(-gains.value[shuffled], kind="stable")]
    short = np.concatenate(([first], others[others != first]))[: max(_SHORTLIST, count)]
    Z = basis.X[basis.panel[short]]
    V = belief.root[:, short].astype(np.float64)
    Sigma = covariance(Z, Z, length=basis.length) - V.T @ V
    links, noise, variance = gains.links[short], gains.noise[short], belief.variance[short]
    value = gains.value[short]
    left = np.ones(len(short), dtype=np.bool_)
    places, values = [0], [value[0]]
    while len(places) < count:
        place = places[-1]
        left[place] = False
        # A measurement of b leaves Sigma - Sigma_b Sigma_b^T / (Sigma_bb + noise_b).
        column = Sigma[place] / np.sqrt(variance[place] + noise[place])
        links = links - np.outer(column, links[place] / np.sqrt(variance[place] + noise[place]))
        Sigma -= np.outer(column, column)
        variance = np.maximum(variance - column**2, 0.0)
        value = np.square(links) @ gains.weights / (variance + noise)
        places.append(_first_best(np.where(left, value, -np.inf)))
        values.append(value[places[-1]])
    return short[np.array(places)], np.array(values)


def _first_best(value: FloatArray) -> int:
    best = float(value.max())
    return int(np.argmax(value >= best - _TIE * abs(best)))
