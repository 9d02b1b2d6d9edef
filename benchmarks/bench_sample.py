"""What kappa loses where the cells of an atlas are fitted on a sample of the rows.

    python benchmarks/bench_sample.py --data DIR [--seeds 3] [--budget 50]
        [--scaling auto] [--generated 6000]

Above `SAMPLED_ABOVE` rows the cells are fitted on `LATTICE_SAMPLE` rows. For every NAME.npz in DIR
(with X and y) of more rows than that and at most --most, and for generated data, sessions by the
default strategy are run twice: with cells fitted on the sample, and on all rows. Kappa is that of
the tuned SVDD on all rows; the last line has the mean of the differences.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from svddtune.numerics import (
    SAMPLED_ABOVE,
    Atlas,
    FloatArray,
    IndexArray,
    LabelArray,
    Views,
    belief_basis,
    fit_atlas,
    lattice,
    panel_rows,
    prepare,
    run,
    score,
)
from svddtune.numerics.refined import refined_basis

LOCALITY = 5


def fitted_on(views: Views, rows: int, panel: IndexArray) -> Atlas:
    """The atlas with cells that are fitted on so many rows."""
    usual = lattice.LATTICE_SAMPLE
    lattice.LATTICE_SAMPLE = rows
    try:
        return fit_atlas(views, panel=panel)
    finally:
        lattice.LATTICE_SAMPLE = usual


def generated(rows: int) -> tuple[FloatArray, LabelArray]:
    """Three clusters of unlike spread, in ten columns, and 5 % of rows between them."""
    rng = np.random.default_rng(0)
    centres, spread = rng.normal(size=(3, 10)), np.array([0.2, 0.4, 0.8])
    cluster = rng.integers(3, size=rows)
    X = centres[cluster] + spread[cluster, None] * rng.normal(size=(rows, 10))
    y = np.where(rng.random(rows) < 0.05, -1, 1).astype(np.int8)
    X[y == -1] = 1.5 * rng.normal(size=(int((y == -1).sum()), 10))
    return X, y


def sets(
    folder: Path | None, most: int, sizes: list[int]
) -> Iterator[tuple[str, FloatArray, LabelArray]]:
    """Name, rows and truth of every set."""
    for rows in sizes:
        yield f"generated {rows}", *generated(rows)
    for path in (
        sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_size) if folder else ()
    ):
        with np.load(path, allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"]
        if SAMPLED_ABOVE < len(X) <= most:
            yield path.stem, X, y


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with NAME.npz files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--scaling", default="auto")
    parser.add_argument("--most", type=int, default=10_000, help="rows of a set")
    parser.add_argument("--generated", type=int, nargs="*", default=[6000])
    given = parser.parse_args()
    print("| set | rows | sample | all rows | difference, by seed | atlas: sample | all rows |")
    print("|---|---|---|---|---|---|---|")
    means = []
    for name, X, y in sets(given.data, given.most, given.generated):
        views = Views(X, given.scaling)
        basis = belief_basis(
            views.rows(views.belief), survey=refined_basis(views).survey(views.raw)
        )
        prep = prepare(views.rows(views.base), k=LOCALITY, rows=panel_rows(len(X)))
        kappas, seconds = [], []
        for rows in (lattice.LATTICE_SAMPLE, len(X)):
            begin = time.process_time()
            atlas = fitted_on(views, rows, basis.panel)
            seconds.append(time.process_time() - begin)
            results = [
                run(
                    views, y, budget=given.budget, k=LOCALITY, strategy="mixed", seed=seed,
                    prep=prep, atlas=atlas, basis=basis,
                )
                for seed in range(given.seeds)
            ]  # fmt: skip
            kappas.append([float(score(y, result.final.predictions)) for result in results])
        differences = np.subtract(kappas[0], kappas[1])
        means.append(float(differences.mean()))
        print(
            f"| {name} | {len(X):,} | {np.mean(kappas[0]):.3f} | {np.mean(kappas[1]):.3f} "
            f"| {', '.join(f'{one:+.3f}' for one in differences)} "
            f"| {seconds[0]:.0f} s | {seconds[1]:.0f} s |",
            flush=True,
        )
    if means:
        print(f"\nmean difference {np.mean(means):+.3f} over {len(means)} sets")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
