"""An SVDD whose parameters labels choose, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from svddtune import numerics
from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.label_values import verdicts_of
from svddtune.client.oracles import Command, reply, verdict_of
from svddtune.client.types import Query
from svddtune.estimators.base import Hypersphere
from svddtune.estimators.rows import read_rows, seed_of
from svddtune.estimators.svdd import SVDD
from svddtune.extensions import strategy_named, views_named
from svddtune.numerics import FloatArray, LabelArray, Metric, QueryStrategy
from svddtune.numerics.extent import check_magnitude
from svddtune.numerics.refined import fit_refined, refined_basis
from svddtune.refined import RefinedDetector


class ActiveSVDD(Hypersphere):
    """SVDD with gamma and C chosen by labels: those in `y`, and those it asks an oracle for.

    `fit` computes in this process what a session of the service computes, with one labeler. Answers
    are kept only in `labels_`, once `fit` is done: where people answer, `svddtune.tune` is safer,
    since it stores every answer.

    Parameters
    ----------
    oracle : callable, optional
        Takes a `svddtune.Query` and returns "inlier" or +1, "outlier" or -1, "unsure", a
        `SkipMode` (both: the row is not asked about again) or ``Command.STOP``. ``query.row``
        counts the rows that `fit` got and ``query.features`` are their values. The same
        oracles serve `svddtune.tune`. Default: nothing is asked, and the labels in `y` decide.
    budget : int
        Labels in all, those in `y` included, after which no more are asked for; at least 1.
        Default 50.
    strategy : str or callable
        Rule that chooses the next query: "mixed" (default), "knowledge_gradient", "disagreement",
        "lama" (the paper's method, which also chooses gamma and C by its rules) or "random"; the
        name of another package's strategy, or one itself (`svddtune.numerics.QueryStrategy`).
    scaling : str
        How the columns are mapped: "auto" (default) to choose by the labels; or "none", "minmax",
        "robust", "standard", "asinh", "ranks", "normal", "whitened", or the name of another
        package's representation.
    outlier_value : optional
        The value in `y` that marks an outlier; every other value that is not missing marks an
        inlier. Default: -1 marks outliers, +1 inliers.
    gamma_bounds : (float, float), optional
        Smallest and largest gamma to choose from, in inverse squared units of the mapped columns.
        Default: from the data.
    k : int
        Locality: nearest neighbours that a label is spread to, the row itself included. Default 5.
    metric : "kappa", "mcc", "f1" or "balanced_accuracy"
        Score on the labels that ranks models. Default "kappa".
    random_state : int, RandomState or None
        The same rows, labels and seed give the same queries and model. None (default) is 0.

    Attributes
    ----------
    model_ : SVDD
        The fitted model with the chosen parameters.
    gamma_, C_ : float
        The chosen parameters.
    scaling_ : str
        How the columns are mapped; with "auto" the chosen one.
    result_ : svddtune.numerics.TuningResult
        The whole course: the rows asked about in order (``result_.queries``), the choice before
        each query (``result_.choices``) and the scores of the cells (``result_.final.cells``).
    labels_ : array (N,)
        Labels that the choice rests on: +1, -1, and 0 where there is none.
    refined_ : svddtune.refined.RefinedDetector or None
        A detector that uses the labels directly, beside the SVDD; None without labels of both
        classes.
    notes_ : tuple of str
        What should be known before the model is trusted: few rows, constant or equal columns,
        labels that no model agrees with (`fit` warns of these).
    offset_ : float
        ``decision_function(X) = score_samples(X) - offset_``.
    n_features_in_ : int
        M.
    feature_names_in_ : array (M,) of str
        Names of the columns, where `fit` got a frame. Later frames are matched by them.

    Examples
    --------
    >>> import numpy as np
    >>> from svddtune import ActiveSVDD
    >>> X = np.r_[np.random.default_rng(0).normal(size=(50, 2)), [[9.0, 9.0], [8.0, -9.0]]]
    >>> ask = lambda query: "outlier" if abs(query.features[0]) > 5 else "inlier"
    >>> int(ActiveSVDD(ask, budget=12).fit(X).predict([[9.0, 9.0]])[0])
    -1
    """

    def __init__(
        self,
        oracle: Callable[[Query], object] | None = None,
        *,
        budget: int = 50,
        strategy: str | QueryStrategy = numerics.DEFAULT_STRATEGY,
        scaling: str = "auto",
        outlier_value: object = None,
        gamma_bounds: tuple[float, float] | None = None,
        k: int = 5,
        metric: Metric = "kappa",
        random_state: Any = None,
    ) -> None:
        self.oracle = oracle
        self.budget = budget
        self.strategy = strategy
        self.scaling = scaling
        self.outlier_value = outlier_value
        self.gamma_bounds = gamma_bounds
        self.k = k
        self.metric = metric
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Ask for labels where there is an oracle, choose gamma and C, and fit.

        Parameters
        ----------
        X : array-like or frame (N, M)
            Finite numbers up to 1e100.
        y : array-like (N,), optional
            Known labels: +1 inlier, -1 outlier, 0 or NaN not known; or see `outlier_value`. Codes
            of another kind are ignored with a warning, because `y` means nothing to other outlier
            detectors. Without any label the model rests on what the data alone say.

        Returns
        -------
        ActiveSVDD
            This estimator.

        Raises
        ------
        ValueError
            A parameter is out of its range, the rows are not as `X` says, no label in `y` is
            `outlier_value`, or the oracle returned no answer.
        """
        rows = read_rows(self, X, fitting=True)
        known = self._known(y, len(rows))
        budget = self._check_budget(len(rows))
        seed = seed_of(self.random_state)
        views = views_named(rows, self.scaling)
        check_magnitude(views.X)
        self.result_ = numerics.run(
            views,
            self._ask(rows),
            budget=budget if self.oracle is not None else 0,
            k=self.k,
            strategy=self.strategy if callable(self.strategy) else strategy_named(self.strategy),
            seed=seed,
            metric=self.metric,
            known=known,
            gamma_bounds=self.gamma_bounds,
        )
        final, chosen = self.result_.final, self.result_.final.model
        self.gamma_, self.C_, self.scaling_ = chosen.gamma, chosen.C, final.scaling
        self.labels_ = self.result_.labels
        self.model_ = SVDD(
            gamma=chosen.gamma, C=chosen.C, scaling=final.scaling, random_state=seed
        ).take(final.representation, chosen, like=self)
        self.offset_ = self.model_.offset_
        self.refined_: RefinedDetector | None = None
        if min(numerics.class_counts(self.labels_)) > 0:
            basis = refined_basis(views, seed=seed)
            self.refined_ = fit_refined(basis, rows, self.labels_, seed=seed)
        doubts = list(numerics.label_notes(self.labels_, final.predictions))
        names = getattr(self, "feature_names_in_", ())
        self.notes_ = (*doubts, *numerics.data_notes(rows, names))
        for doubt in doubts:
            warnings.warn(doubt, UserWarning, stacklevel=2)
        return self

    def predict(self, X: Any, *, which: str = "svdd") -> NDArray[np.int64]:
        """Return +1 for an inlier and -1 for an outlier.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Rows in the units of the training data.
        which : "svdd" or "refined"
            Whose verdicts: the tuned SVDD's (default), or the refined detector's.

        Returns
        -------
        array (n,) of int

        Raises
        ------
        ValueError, NotFittedError
            As `score_samples`; also where `which` is neither, or there is no refined detector.
        """
        if which == "svdd":
            return super().predict(X)
        if which != "refined":
            raise ValueError(f"which is {which!r}, expected 'svdd' or 'refined'")
        rows = self._new_rows(X)
        return self._known_refined().predict(rows).astype(np.int64)

    def outlier_probability(self, X: Any) -> FloatArray:
        """Return the refined detector's probability that a row is an outlier.

        It is calibrated. The verdict of `predict` follows the detector's own score, whose limit
        lies at a probability below one half.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Rows in the units of the training data.

        Returns
        -------
        array (n,)
            In [0, 1].

        Raises
        ------
        ValueError, NotFittedError
            As `score_samples`; also where there is no refined detector, because `fit` had no labels
            of both classes.
        """
        rows = self._new_rows(X)
        return self._known_refined().probability(rows)

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape (n, M), that are checked already."""
        return self.model_.score_rows(rows)

    def _known_refined(self) -> RefinedDetector:
        if self.refined_ is None:
            raise ValueError("There is no refined detector: it needs labels of both classes")
        return self.refined_

    def _check_budget(self, N: int) -> int:
        budget = self.budget
        if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 1:
            raise ValueError(f"budget is {budget!r}, expected a whole number of at least 1")
        return min(int(budget), N)

    def _known(self, y: Any, N: int) -> LabelArray:
        known: LabelArray = np.zeros(N, dtype=np.int8)
        if y is None:
            return known
        values = np.asarray(y, dtype=object).ravel().tolist()
        check_consistent_length(np.empty(N), values)
        try:
            verdicts = verdicts_of(values, self.outlier_value, field="y")
        except InvalidInput as error:
            if error.reason not in ("INVALID_LABEL", "LABELS_AMBIGUOUS"):
                raise
            warnings.warn(f"y is ignored: {error.message}", UserWarning, stacklevel=3)
            return known
        known[:] = [0 if verdict is None else verdict.sign for verdict in verdicts]
        return known

    def _ask(self, rows: FloatArray) -> numerics.Oracle:
        """Return the oracle as the numerics call it."""
        asked = 0

        def ask(row: int) -> int | None:
            nonlocal asked
            assert self.oracle is not None, "without an oracle the budget is spent"
            asked += 1
            answer = reply(
                self.oracle(
                    Query(
                        number=asked,
                        observation_id=str(row),
                        row=row,
                        features=rows[row].copy(),
                        display={},
                        why=self.strategy if isinstance(self.strategy, str) else "own",
                        score=0.0,
                        lease_id="",
                        lease_expires=None,
                    )
                )
            )
            if answer is Command.STOP:
                return None
            if isinstance(answer, Command):
                raise InvalidInput(
                    f"The oracle returned {answer}, but answers cannot be withdrawn here: use "
                    "svddtune.tune",
                    metadata={"value": str(answer)},
                )
            verdict = verdict_of(answer)
            return 0 if verdict is None else verdict.sign

        return ask
