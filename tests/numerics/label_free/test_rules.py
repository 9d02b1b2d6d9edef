"""Label-free rules: formulas by hand, behaviour on odd data, scale."""

import math

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.numerics.test_degenerate_input import ODD

from svddtune.numerics import FloatArray, c_from_nu, fit
from svddtune.numerics.label_free import (
    HEURISTICS,
    artificial_gamma,
    ball_outliers,
    bound_gamma,
    mean_gamma,
    modified_mean_gamma,
    resampled_support_gamma,
    variation_gamma,
)
from svddtune.numerics.label_free.curves import fit_curve, gamma_grid, outlier_share
from svddtune.numerics.label_free.support import first_inflection, normalised_distance

X, _ = blobs(120, 3, seed=7)


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_mean_criterion_by_hand() -> None:
    # One pair at distance 5: gamma = ln(1 / delta^2) / (2 * 25), delta^2 = 2e-12.
    pair = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert mean_gamma(pair) == pytest.approx(math.log(5e11) / 50.0)


def test_mean_criteria_by_definition() -> None:
    N = len(X)
    distance2 = sum(float(((a - b) ** 2).sum()) for a in X for b in X) / (N * (N - 1))
    p = 1.0 / math.log(N - 1)
    delta = (
        -0.14818008 * p**4 + 0.284623624 * p**3 - 0.252853808 * p**2 + 0.159059498 * p - 0.001381145
    )
    assert mean_gamma(X) == pytest.approx(math.log((N - 1) / 2e-12) / (2 * distance2))
    assert modified_mean_gamma(X) == pytest.approx(math.log((N - 1) / delta**2) / (2 * distance2))
    assert modified_mean_gamma(X[:2]) is None


@pytest.mark.parametrize(("ratio", "power"), [("coefficient", 1), ("dispersion", 2)])
def test_kernel_variation_by_definition(ratio: str, power: int) -> None:
    gamma = variation_gamma(X, rng=rng(), ratio=ratio)  # type: ignore[arg-type]
    i, j = np.triu_indices(len(X), 1)
    D2 = ((X[i] - X[j]) ** 2).sum(axis=1)

    def spread(g: float) -> float:
        K = np.exp(-g * D2)
        return float(K.std() ** power / (K.mean() + 1e-6))

    assert gamma is not None
    best = max(spread(float(g)) for g in gamma_grid(X, 300))
    assert spread(gamma) == pytest.approx(best, rel=1e-3)


def test_kernel_variation_refuses_another_ratio() -> None:
    with pytest.raises(ValueError, match="ratio is 'range'"):
        variation_gamma(X, rng=rng(), ratio="range")  # type: ignore[arg-type]


def test_first_inflection() -> None:
    # 1/(1 + s^2) turns from concave to convex at 1/sqrt(3).
    s = np.geomspace(0.05, 5.0, 400)
    assert first_inflection(s, 1.0 / (1.0 + s**2)) == pytest.approx(1 / math.sqrt(3), rel=0.02)
    assert first_inflection(s, s**2) is None
    assert first_inflection(s, -(s**2)) is None
    assert first_inflection(s, np.zeros(400)) is None


def test_support_rules_by_definition() -> None:
    gammas, C = gamma_grid(X), c_from_nu(0.1, len(X))
    counts = [len(fit(X, gamma=float(g), C=C).rows) for g in gammas]
    gamma = bound_gamma(X, rng=rng(), C=C)
    excess = [max(0, count - 12) for count in counts]
    assert min(counts) >= 12
    assert gamma == pytest.approx(gammas[excess.index(min(excess))])
    assert resampled_support_gamma(X, rng=rng()) in gammas


def test_artificial_outliers_by_definition() -> None:
    generator = rng()
    ball = ball_outliers(X, 1000, rng=generator)
    errors = []
    for gamma in gamma_grid(X):
        model = fit(X, gamma=float(gamma), C=c_from_nu(0.05, len(X)))
        errors.append(len(model.rows) / len(X) + 1.0 - model.outside(ball).mean())
    gamma = artificial_gamma(X, rng=rng())
    assert gamma == pytest.approx(gamma_grid(X)[int(np.argmin(errors))])


def test_ball_is_uniform_and_covers_the_data() -> None:
    ball = ball_outliers(X, 20_000, rng=rng())
    center = X.mean(axis=0)
    radius = 1.1 * np.sqrt(((X - center) ** 2).sum(axis=1).max())
    distance = np.sqrt(((ball - center) ** 2).sum(axis=1)) / radius
    assert distance.max() <= 1.0 + 1e-12
    assert np.quantile(distance, [0.25, 0.5]) ** 3 == pytest.approx([0.25, 0.5], abs=0.02)


def test_normalised_distance_is_zero_on_the_boundary_and_at_most_one() -> None:
    curve = fit_curve(X, np.array([5.0]), 0.1)
    inward = normalised_distance(curve)[0]
    alphas = curve.alphas[0]
    between = (alphas > 1e-6) & (alphas < curve.models[0].C - 1e-6)
    assert between.any()
    assert inward[between] == pytest.approx(0.0, abs=1e-4)
    assert inward.max() <= 1.0
    assert (inward[curve.models[0].outside(X)] < 0.0).all()


def test_outlier_share_of_a_given_C_stays_in_its_range() -> None:
    assert outlier_share(0.1, 200) == pytest.approx(0.05)
    assert outlier_share(3.0, 200) == pytest.approx(1 / 200)
    assert outlier_share(None, 10) == 0.1


@pytest.mark.parametrize("name", HEURISTICS)
def test_every_rule_answers_the_same_for_the_same_generator(name: str) -> None:
    rule = HEURISTICS[name]
    gamma = rule(X, rng=rng())
    assert gamma is not None
    assert 0.0 < gamma < np.inf
    assert rule(X, rng=rng()) == gamma


@pytest.mark.parametrize("name", HEURISTICS)
def test_every_rule_follows_the_squared_scale(name: str) -> None:
    a = HEURISTICS[name](X, rng=rng())
    b = HEURISTICS[name](8.0 * X, rng=rng())
    assert a is not None
    assert b == pytest.approx(a / 64.0, rel=0.02)


@pytest.mark.parametrize("name", HEURISTICS)
@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_every_rule_survives_odd_data(name: str, data: FloatArray) -> None:
    gamma = HEURISTICS[name](data, rng=rng())
    assert gamma is None or 0.0 < gamma < np.inf


@pytest.mark.parametrize("name", HEURISTICS)
def test_rules_sample_large_data(name: str) -> None:
    large, _ = blobs(1500, 2, seed=1)
    gamma = HEURISTICS[name](large, rng=rng())
    assert gamma is not None
    assert gamma > 0.0
