"""Small sets in the formats that the evaluation reads."""

from pathlib import Path

import numpy as np

from svddtune.numerics import FloatArray, LabelArray


def cloud(N: int, outliers: int, seed: int) -> tuple[FloatArray, LabelArray]:
    """A round cloud in the unit square and outliers around it, rows shuffled."""
    rng = np.random.default_rng(seed)
    inner = 0.5 + 0.08 * rng.standard_normal((N - outliers, 2))
    angle = rng.uniform(0, 2 * np.pi, outliers)
    outer = 0.5 + 0.45 * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    order = rng.permutation(N)
    y = np.repeat(np.array([1, -1], dtype=np.int8), (N - outliers, outliers))
    return np.concatenate((inner, outer))[order], y[order]


def write_sets(folder: Path) -> Path:
    """Write Glass and Stamps, which are in the paper, and one set that is not."""
    folder.mkdir()
    X, y = cloud(60, 6, seed=1)
    np.savez(folder / "Glass.npz", X=X, y=y)
    X, y = cloud(70, 9, seed=2)
    lines = ["@RELATION stamps", "@ATTRIBUTE id NUMERIC", "@ATTRIBUTE a REAL", "@ATTRIBUTE b REAL"]
    lines += ["@ATTRIBUTE outlier {'yes','no'}", "@DATA"]
    lines += [
        f"{row + 1},{a!r},{b!r},'{'yes' if sign < 0 else 'no'}'"
        for row, ((a, b), sign) in enumerate(zip(X.tolist(), y, strict=True))
    ]
    (folder / "Stamps_withoutdupl_norm_09.arff").write_text("\n".join(lines))
    X, y = cloud(55, 5, seed=3)
    lines = ["a,b,outlier"]
    lines += [f"{a!r},{b!r},{int(s < 0)}" for (a, b), s in zip(X.tolist(), y, strict=True)]
    (folder / "own.csv").write_text("\n".join(lines))
    return folder
