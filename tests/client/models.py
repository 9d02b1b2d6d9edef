"""Small fitted models, straight from the definition."""

from typing import Any

import numpy as np
from sklearn.svm import OneClassSVM

from svddtune import numerics
from svddtune.client import SvddModel
from svddtune.numerics import Views, fit_representation, spread_of
from svddtune.numerics.refined import fit_refined, refined_basis
from svddtune.numerics.svdd import BOUNDARY_TOLERANCE
from svddtune.profile import Profile, sketches


def fit(
    seed: int = 0,
    *,
    n: int = 80,
    m: int = 3,
    nu: float = 0.2,
    scaling: str = "minmax",
    **changes: Any,
) -> SvddModel:
    """SVDD of random rows through a one-class SVM of the same dual."""
    X = rows(seed, n=n, m=m)
    representation = fit_representation(X, scaling)
    Z = representation.apply(X)
    gamma = 2.0 if scaling == "minmax" else 1.0 / Z.var(axis=0).sum()
    svm = OneClassSVM(gamma=gamma, nu=nu, tol=1e-10).fit(Z)
    alphas = svm.dual_coef_[0] / (nu * n)
    vectors = Z[svm.support_]

    def distance2(rows: np.ndarray[Any, Any]) -> Any:
        return 1 - 2 * kernel(rows, vectors, gamma) @ alphas + center

    center = alphas @ kernel(vectors, vectors, gamma) @ alphas
    free = alphas < 1 / (nu * n) * (1 - 1e-8)
    parts: dict[str, Any] = {
        "gamma": gamma,
        "C": 1 / (nu * n),
        "nu": nu,
        "R2": float(distance2(vectors[free]).max()),
        "center_norm2": float(center),
        "tolerance": 1e-7,
        "support_vectors": vectors,
        "alphas": alphas,
        "representation": representation,
        "feature_names": tuple(f"f{j}" for j in range(m)),
        "check_rows": X[:7],
        "check_distance2": distance2(Z[:7]),
        "sklearn_nu": nu,
        "observation_count": n,
        "dataset_rows": tuple(int(row) for row in svm.support_),
        "dataset_hash": "abc",
        "result": "sessions/s1/results/1",
        "profile": profile_of(X, fresh_outside=nu),
    }
    return SvddModel(**{**parts, **changes})


def fit_refined_too(**changes: Any) -> SvddModel:
    """`fit` with a refined detector of a dozen labels."""
    X = rows()
    labels = np.zeros(len(X), dtype=np.int8)
    labels[:12] = np.where(X[:12, 0] > np.median(X[:12, 0]), -1, 1)
    detector = fit_refined(refined_basis(Views(X)), X, labels)
    assert detector is not None
    parts = {"refined": detector, "check_probability": detector.probability(X[:7])}
    return fit(**{**parts, **changes})


def profile_of(X: np.ndarray[Any, Any], *, fresh_outside: float) -> Profile:
    """The profile of rows; what fresh rows are like is given."""
    spread = spread_of(X)
    return Profile(
        center=spread.center,
        spread=spread.scale,
        columns=sketches(X),
        count=len(X),
        fresh_count=len(X),
        fresh_outside=fresh_outside,
        fresh_gap2=10.0,
    )


def rows(seed: int = 0, *, n: int = 80, m: int = 3) -> np.ndarray[Any, Any]:
    """The raw rows that `fit` fits."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) * [1.0, 10.0, 100.0][:m] + 5.0


def kernel(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], gamma: float) -> Any:
    return np.exp(-gamma * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def fit_model(X: Any, *, nu: float, gamma: float = 0.2, **changes: Any) -> SvddModel:
    """The SVDD of the numerics, of standardised rows, with the profile that a worker makes."""
    representation = fit_representation(X, "standard")
    Z = representation.apply(X)
    fitted = numerics.fit(Z, gamma=gamma, C=1 / (len(X) * nu))
    parts: dict[str, Any] = {
        "gamma": gamma,
        "C": fitted.C,
        "nu": fitted.nu,
        "R2": fitted.R2,
        "center_norm2": fitted.center_norm2,
        "tolerance": BOUNDARY_TOLERANCE,
        "representation": representation,
        "support_vectors": fitted.support,
        "alphas": fitted.alphas,
        "feature_names": (),
        "check_rows": X[:2],
        "check_distance2": fitted.distance2(Z[:2]),
        "sklearn_nu": fitted.nu,
        "observation_count": len(X),
        "profile": numerics.profile_of(fitted, Z, X),
    }
    return SvddModel(**{**parts, **changes})
