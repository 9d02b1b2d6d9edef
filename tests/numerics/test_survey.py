"""Large sets: an unbiased panel, questions that reach rare outliers, and the same ones anywhere."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from svddtune.numerics import (
    Atlas,
    FloatArray,
    IndexArray,
    LabelArray,
    Survey,
    Views,
    belief_basis,
    believe,
    choose_cell,
)
from svddtune.numerics.evidence import weigh
from svddtune.numerics.gain import gradient, knowledge_committee, knowledge_gains
from svddtune.numerics.panel import PANEL_ROWS, Panel, uniform_panel
from svddtune.numerics.refined import refined_basis
from svddtune.numerics.survey import (
    CERTAIN_ROWS,
    TURNS,
    Lean,
    _random_row,
    rank_cold,
    rank_warm,
    survey,
)
from svddtune.numerics.types import INLIER, OUTLIER

N = 12_000


@cache
def scene() -> tuple[FloatArray, LabelArray]:
    """Two clouds, hundreds of far inliers, and twelve outliers in a group of their own."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, 3)) * [1.0, 2.0, 0.5]
    X[: N // 3] += [6.0, 0.0, 0.0]
    X[N // 3 : N // 3 + 300] *= 4.0
    y = np.full(N, INLIER)
    rare = rng.choice(np.arange(N // 2, N), 12, replace=False)
    X[rare] = [3.0, 9.0, 4.0] + 0.2 * rng.standard_normal((12, 3))
    y[rare] = OUTLIER
    return X, y


@cache
def surveyed() -> Survey:
    X, _ = scene()
    made = refined_basis(Views(X)).survey(X)
    assert made is not None
    return made


def ask(
    labels: LabelArray, open_rows: IndexArray | None = None, *, reserve: int = 16
) -> IndexArray:
    """Rows that are asked about next, of all rows without label or query."""
    waiting = np.empty(0, dtype=np.int64) if open_rows is None else open_rows
    askable = labels == 0
    askable[waiting] = False
    rng = np.random.default_rng(int(np.count_nonzero(labels)))
    asked = int(np.count_nonzero(labels)) + len(waiting)
    seen = set(labels[labels != 0].tolist())
    if len(seen) < 2:
        return rank_cold(
            surveyed(), labels, waiting, askable, reserve=reserve, rng=rng
        ).rows  # fmt: skip
    rows = np.flatnonzero(labels)
    lean = Lean.fit(surveyed().of_rows(rows), labels[rows])
    p = lean.probability(surveyed().of_panel)
    return rank_warm(
        surveyed(), lean, p, askable, asked=asked, reserve=reserve, rng=rng
    ).rows  # fmt: skip


@cache
def answered() -> IndexArray:
    """Rows of a session with true answers, in the order of the queries."""
    _, y = scene()
    known: LabelArray = np.zeros(N, dtype=np.int8)
    rows = []
    for _ in range(30):
        rows.append(int(ask(known, reserve=1)[0]))
        known[rows[-1]] = y[rows[-1]]
    return np.array(rows)


def session(labels: int) -> LabelArray:
    """Labels of the first answers."""
    _, y = scene()
    known: LabelArray = np.zeros(N, dtype=np.int8)
    rows = answered()[:labels]
    known[rows] = y[rows]
    return known


def test_small_sets_are_not_surveyed() -> None:
    X, _ = scene()
    assert survey(X[:PANEL_ROWS], lambda rows: np.column_stack((rows, rows)), columns=3) is None


def test_panel_holds_the_most_unusual_rows_and_weights_of_mean_one() -> None:
    _, y = scene()
    panel = surveyed().panel
    assert len(panel.rows) == PANEL_ROWS
    assert (np.diff(panel.rows) > 0).all()
    assert panel.weights.mean() == pytest.approx(1.0)
    assert (y[panel.rows] == OUTLIER).sum() >= 10
    least = panel.weights.min()
    assert np.count_nonzero(panel.weights <= least * (1.0 + 1e-9)) >= CERTAIN_ROWS


def test_weighted_sums_over_panels_are_unbiased() -> None:
    X, y = scene()
    describe = refined_basis(Views(X)).features
    value = X[:, 1] ** 2
    means, shares = [], []
    for seed in range(12):
        made = survey(X, describe, columns=3, seed=seed)
        assert made is not None
        weights, rows = made.panel.weights, made.panel.rows
        means.append(np.average(value[rows], weights=weights))
        shares.append(np.average(y[rows] == OUTLIER, weights=weights))
    error = np.std(means, ddof=1) / np.sqrt(len(means))
    assert abs(np.mean(means) - value.mean()) < 4.0 * error
    assert np.mean(shares) == pytest.approx((y == OUTLIER).mean(), rel=0.2)


def test_cold_start_finds_both_classes_of_rare_outliers_within_fifteen_answers() -> None:
    labels = session(15)
    assert set(labels[labels != 0].tolist()) == {INLIER, OUTLIER}


def test_cold_start_avoids_rows_near_labels_and_open_queries() -> None:
    labels: LabelArray = np.zeros(N, dtype=np.int8)
    first = ask(labels, reserve=1)
    labels[first] = INLIER
    asked = ask(labels)
    columns = surveyed().of_rows(np.concatenate((first, asked)))[:, : surveyed().columns]
    apart = np.sqrt(np.square(columns[1:] - columns[0]).sum(axis=1))
    assert apart[0] > 0.5 * surveyed().reach
    waiting = ask(np.zeros(N, dtype=np.int8), first)
    assert waiting[0] == asked[0]


def test_cold_start_asks_typical_rows_where_all_labels_are_outliers() -> None:
    labels: LabelArray = np.zeros(N, dtype=np.int8)
    labels[ask(labels, reserve=1)] = OUTLIER
    _, y = scene()
    rows = ask(labels)
    assert (y[rows] == INLIER).all()
    place = np.searchsorted(surveyed().panel.rows, rows)
    assert (surveyed().unusual[-1][place] < 0.1).all()


def test_rows_outside_of_the_panel_are_asked_about() -> None:
    labels = session(30)
    rows = np.flatnonzero(labels)
    assert not np.isin(rows, surveyed().panel.rows).all()


def test_rows_are_ranked_once_and_never_those_with_label_or_query() -> None:
    labels = session(20)
    waiting = ask(labels)[:3]
    rows = ask(labels, waiting)
    assert len(np.unique(rows)) == len(rows) == 16
    assert not labels[rows].any()
    assert not np.isin(rows, waiting).any()


def test_every_third_place_is_a_random_row() -> None:
    labels = session(20)
    rows = np.flatnonzero(labels)
    lean = Lean.fit(surveyed().of_rows(rows), labels[rows])
    ranked = rank_warm(
        surveyed(), lean, lean.probability(surveyed().of_panel), labels == 0,
        asked=20, reserve=6, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert ranked.rules == tuple(TURNS[place % 3] for place in range(20, 26))


def test_last_rows_are_ranked_by_either_rule() -> None:
    labels = session(20)
    askable = np.zeros(N, dtype=np.bool_)
    askable[np.flatnonzero(labels == 0)[:5]] = True
    rows = np.flatnonzero(labels)
    lean = Lean.fit(surveyed().of_rows(rows), labels[rows])
    p, rng = lean.probability(surveyed().of_panel), np.random.default_rng(0)
    warm = rank_warm(surveyed(), lean, p, askable, asked=20, reserve=16, rng=rng)
    none: LabelArray = np.zeros(N, dtype=np.int8)
    cold = rank_cold(surveyed(), none, rows[:0], askable, reserve=16, rng=rng)
    assert sorted(warm.rows) == sorted(cold.rows) == np.flatnonzero(askable).tolist()


def test_another_worker_asks_the_same() -> None:
    X, _ = scene()
    again = refined_basis(Views(X.copy())).survey(X.copy())
    assert again is not None
    np.testing.assert_array_equal(again.panel.rows, surveyed().panel.rows)
    np.testing.assert_array_equal(again.features, surveyed().features)
    np.testing.assert_array_equal(again.unusual, surveyed().unusual)


def random_atlas(share: float, cells: int = 40) -> Atlas:
    """Cells that call random rows outliers, and one that calls exactly the outliers so."""
    _, y = scene()
    rng = np.random.default_rng(5)
    bits = rng.random((cells, N)) < share * rng.random((cells, 1))
    bits[7] = y == OUTLIER
    return Atlas(
        scaling=np.full(cells, "none"), gamma=np.ones(cells), C=np.arange(1.0, cells + 1.0),
        R2=np.ones(cells), support_vectors=np.ones(cells, dtype=np.int32),
        packed=np.packbits(bits, axis=1), N=N,
    )  # fmt: skip


def test_cells_are_weighed_on_the_weighted_panel() -> None:
    X, _ = scene()
    atlas, basis = random_atlas(0.2).on(surveyed().panel), belief_basis(X, survey=surveyed())
    sizes = atlas.panel_sizes / PANEL_ROWS
    np.testing.assert_allclose(sizes, atlas.outliers / N, atol=0.03)
    labels = session(30)
    belief = believe(basis, labels)
    assert set(np.unique(belief.verdict).tolist()) <= {0.0, 1.0}
    assert choose_cell(atlas, basis, labels).cell == 7


def test_kappa_slopes_of_the_weighted_panel_are_derivatives() -> None:
    X, _ = scene()
    atlas, basis = random_atlas(0.5).on(surveyed().panel), belief_basis(X, survey=surveyed())
    labels = session(30)
    belief = believe(basis, labels)
    committee = knowledge_committee(atlas, weigh(atlas, belief, labels))
    q, weights = belief.probability.copy(), surveyed().panel.weights
    rows = np.array([5, 2000, 4000])
    slopes = gradient(atlas, committee, q, rows) * weights[rows, None]

    def kappas(q: FloatArray) -> FloatArray:
        B, total = atlas.panel[committee.cells].astype(np.float64), weights.sum()
        found, called, real = B @ (weights * q), B @ weights, float(weights @ q)
        value = 2.0 * (total * found - real * called)
        value /= real * (total - called) + (total - real) * called
        return np.asarray(value - value @ committee.weights)

    for place, row in enumerate(rows):
        up, down = q.copy(), q.copy()
        up[row], down[row] = q[row] + 1e-4, q[row] - 1e-4
        np.testing.assert_allclose(
            slopes[place], (kappas(up) - kappas(down)) / 2e-4, rtol=1e-2, atol=1e-7
        )
    assert np.isfinite(knowledge_gains(atlas, basis, belief, committee).value).all()


def test_cells_and_belief_on_different_panels_are_refused() -> None:
    X, _ = scene()
    atlas, basis = random_atlas(0.2), belief_basis(X, survey=surveyed())
    with pytest.raises(ValueError, match="different panels"):
        choose_cell(atlas, basis, session(5))


def test_uniform_panel_weighs_all_rows_alike() -> None:
    panel = uniform_panel(N)
    assert isinstance(panel, Panel)
    assert panel.weights.tolist() == [1.0] * PANEL_ROWS


@given(st.data())
def test_a_random_row_is_the_one_drawn_from_the_list_of_rows_that_are_not_taken(
    data: st.DataObject,
) -> None:
    taken = np.array(data.draw(st.lists(st.booleans(), min_size=1, max_size=40)))
    seed = data.draw(st.integers(0, 1000))
    assume(not taken.all())

    row = _random_row(taken, np.random.default_rng(seed))

    assert row == np.random.default_rng(seed).choice(np.flatnonzero(~taken))
