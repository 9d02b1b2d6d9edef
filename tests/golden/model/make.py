"""Make the model files of this folder, and what they say about some rows.

    python -m tests.golden.model.make

The data are generated. A fit differs in its last digits from one version of scikit-learn to the
next, so files and figures are made together.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from tests.client.models import fit, rows

from svddtune.client import SvddModel
from svddtune.numerics import REPRESENTATIONS, FloatArray, Views
from svddtune.numerics.refined import fit_refined, refined_basis

FOLDER = Path(__file__).parent
N = 24


def models() -> dict[str, SvddModel]:
    """The models by name: one for each representation, and one with a refined detector."""
    plain = {kind: fit(seed, n=N, scaling=kind) for seed, kind in enumerate(REPRESENTATIONS)}
    X = rows(0, n=N)
    labels = np.zeros(N, dtype=np.int8)
    labels[:12] = np.where(X[:12, 0] > np.median(X[:12, 0]), -1, 1)
    detector = fit_refined(refined_basis(Views(X)), X, labels)
    assert detector is not None
    refined = fit(n=N, refined=detector, check_probability=detector.probability(X[:7]))
    bare = fit(9, n=N, m=1, feature_names=(), profile=None)
    return plain | {"refined": refined, "bare": bare}


def asked(model: SvddModel) -> FloatArray:
    """Rows like those of the fit, check rows, rows outside, and rows far away."""
    M = model.feature_count
    near = rows(100, n=8, m=M)
    return np.vstack((near, model.check_rows[:2], 4.0 * near[:2], -1e6 * near[:1], 1e90 * near[:1]))


def expected(model: SvddModel, X: FloatArray) -> dict[str, Any]:
    """What a model says about rows."""
    told: dict[str, Any] = {
        "rows": X.tolist(),
        "distance2": model.distance2(X).tolist(),
        "svdd": model.predict(X).tolist(),
    }
    if model.refined is not None:
        told["refined_score"] = model.refined.score(X).tolist()
        told["probability"] = model.probability(X).tolist()
        told["refined"] = model.predict(X, which="refined").tolist()
    return told


def main() -> None:
    """Write all files."""
    for name, model in models().items():
        model.save(FOLDER / f"{name}.npz")
        text = json.dumps(expected(model, asked(model)), indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
