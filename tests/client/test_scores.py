import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from svddtune.client import cohen_kappa

signs = st.sampled_from([-1, 1])


@given(st.lists(st.tuples(signs, signs), min_size=2, max_size=40))
def test_kappa_is_that_of_scikit_learn_and_zero_where_undefined(
    pairs: list[tuple[int, int]],
) -> None:
    truth, predicted = np.array(pairs).T
    if len({*truth.tolist(), *predicted.tolist()}) == 1:
        assert cohen_kappa(truth, predicted) == 0.0
    else:
        expected = cohen_kappa_score(truth, predicted, labels=[-1, 1])
        assert cohen_kappa(truth, predicted) == pytest.approx(expected, abs=1e-12)
