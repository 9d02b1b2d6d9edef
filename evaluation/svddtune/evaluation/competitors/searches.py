"""SVDD with gamma and nu found by a search that scores them on the labels.

This is what tuning by hand amounts to: scikit-learn's one-class SVM on standardised columns, some
trials of (gamma, nu), and the trial with the best kappa on the labels. The trials lie on a lattice
fine enough to be no limit, so that all searches on a set share their fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from svddtune.numerics import BoolArray, FloatArray, LabelArray, as_labels, score

TRIALS = 30
GAMMAS = 10.0 ** np.linspace(-2.0, 2.0, 13)
"""In multiples of scikit-learn's gamma="scale"."""
NUS = np.geomspace(0.005, 0.5, 9)


@dataclass(frozen=True, slots=True)
class Trials:
    """The fits that all searches on a set share.

    Attributes
    ----------
    outside : BoolArray, shape (gammas, nus, N)
        Rows that each fit calls outliers.
    """

    outside: BoolArray

    def kappa(self, gamma: int, nu: int, labels: LabelArray) -> float:
        """Kappa of one fit on the labels."""
        rows = np.flatnonzero(labels)
        return float(score(labels[rows], as_labels(self.outside[gamma, nu, rows])))


def fit_trials(X: FloatArray) -> Trials:
    """Fit the one-class SVM at every gamma and nu of the lattice."""
    Z = StandardScaler().fit_transform(X)
    scale = 1.0 / (Z.shape[1] * max(float(Z.var()), 1e-12))
    outside = np.zeros((len(GAMMAS), len(NUS), len(Z)), dtype=np.bool_)
    for g, gamma in enumerate(GAMMAS):
        for n, nu in enumerate(NUS):
            outside[g, n] = OneClassSVM(gamma=gamma * scale, nu=nu).fit(Z).predict(Z) < 0
    return Trials(outside)


def random_search(trials: Trials, labels: LabelArray, seed: int) -> LabelArray:
    """Decisions of the best of `TRIALS` random trials by their kappa on the labels."""
    rng = np.random.default_rng([105, seed])
    drawn = rng.integers((len(GAMMAS), len(NUS)), size=(TRIALS, 2))
    gamma, nu = max(drawn.tolist(), key=lambda pair: trials.kappa(pair[0], pair[1], labels))
    return as_labels(trials.outside[gamma, nu])


def optuna_search(trials: Trials, labels: LabelArray, seed: int) -> LabelArray:
    """Decisions of the best of `TRIALS` trials of Optuna's default sampler."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: optuna.Trial) -> float:
        gamma = trial.suggest_int("gamma", 0, len(GAMMAS) - 1)
        return trials.kappa(gamma, trial.suggest_int("nu", 0, len(NUS) - 1), labels)

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=TRIALS)
    found = study.best_params
    return as_labels(trials.outside[found["gamma"], found["nu"]])


SEARCHES = {"random_search": random_search, "optuna": optuna_search}
"""Name -> decisions about all rows, from trials, labels and seed."""
