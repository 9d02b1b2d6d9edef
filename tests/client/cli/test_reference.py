import numpy as np
import pytest
from sklearn.svm import OneClassSVM

from svddtune.client.cli.reference import one_class_labels


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("gamma", "nu"), [(0.3, 0.5), (2.0, 0.1), (50.0, 0.5), (1.0, 0.99)])
def test_decides_as_scikit_learn_away_from_the_boundary(seed: int, gamma: float, nu: float) -> None:
    Z = np.random.default_rng(seed).uniform(size=(150, 4))
    decision = OneClassSVM(gamma=gamma, nu=nu, tol=1e-9).fit(Z).decision_function(Z)
    clear = np.abs(decision) > 1e-4 * nu * len(Z)
    labels = one_class_labels(Z, gamma=gamma, nu=nu)
    np.testing.assert_array_equal(labels[clear], np.sign(decision[clear]))


def test_equal_rows_are_all_inside() -> None:
    assert one_class_labels(np.zeros((20, 2)), gamma=1.0, nu=0.5).tolist() == [1] * 20
