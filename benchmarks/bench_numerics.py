"""Time the numerical core on one core, beside the plain full-matrix version.

    python benchmarks/bench_numerics.py --data DIR [--labels-only]

DIR holds NAME.npz with X and y. Sets that are not found are replaced by generated data of the
same shape. Figures are medians of processor time. "by atlas" is a suggestion by the knowledge
gradient, over an atlas of one representation, at 50 labels; "1000 labels" is one by the default
strategy. "auto" is the atlas of several, and its times as multiples of those; "default" is a
suggestion by the default strategy over it, at 50 labels. The last part, or with --labels-only the
whole, is generated data of 20,000 rows with 1,000 and 10,000 labels.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plain
from threadpoolctl import threadpool_limits

from svddtune.numerics import (
    Atlas,
    BeliefBasis,
    FloatArray,
    LabelArray,
    Preparation,
    Strategy,
    Views,
    belief_basis,
    choose_cell,
    fit_atlas,
    fit_cells,
    panel_rows,
    prepare,
    run,
    suggest,
)
from svddtune.numerics.panel import Panel
from svddtune.numerics.refined import refined_basis

SHAPES = {"SpamBase": (2000, 57), "PageBlocks": (2000, 10)}
TARGETS_MS = {
    "preparation": 1000.0,
    "suggest": 5.0,
    "C grid": 600.0,
    "basis": 300.0,
    "atlas": 10000.0,
    "auto": 25000.0,
    "by auto": 7.5,
    "default": 2.0,
    "by atlas": 5.0,
    "choice": 5.0,
    "1000 labels": 10.0,
    "10000 labels": 40.0,
}
LABELS, CANDIDATES, CELLS, LOCALITY = 50, 100, 20, 5


def load(directory: Path | None, name: str) -> tuple[str, FloatArray, LabelArray]:
    path = directory / f"{name}.npz" if directory else None
    if path is not None and path.exists():
        with np.load(path, allow_pickle=False) as arrays:
            return name, arrays["X"], arrays["y"]
    N, M = SHAPES[name]
    rng = np.random.default_rng(0)
    y = np.where(rng.random(N) < 0.1, -1, 1).astype(np.int8)
    X = 0.5 + 0.08 * rng.normal(size=(N, M)) * np.where(y == 1, 1.0, 3.0)[:, None]
    return f"generated {N} x {M}", np.clip(X, 0.0, 1.0), y


def median_ms(action: Callable[[int], object], repeats: int) -> float:
    times = []
    for repeat in range(repeats):
        begin = time.process_time()
        action(repeat)
        times.append(time.process_time() - begin)
    return 1e3 * float(np.median(times))


def report(step: str, ours: float, reference: float | None = None) -> None:
    target = TARGETS_MS[step]
    verdict = "ok" if ours <= target else "MISSED"
    line = f"  {step:12} {ours:9.2f} ms  target {target:6.0f} ms {verdict:6}"
    if reference is not None:
        line += f"  plain {reference:9.0f} ms = {reference / ours:6.0f} x"
    print(line)


def bench(name: str, X: FloatArray, y: LabelArray) -> None:
    print(name)
    many = np.random.default_rng(0).permutation(len(y))[:1000]
    prep = prepare(X, k=LOCALITY)
    gammas = np.exp(prep.log_gamma)
    report(
        "preparation",
        median_ms(lambda _: prepare(X, k=LOCALITY), 5),
        median_ms(lambda _: plain.prepare(X, LOCALITY, gammas), 1),
    )
    result = run(X, y, budget=LABELS, k=LOCALITY, prep=prep, cells=2)
    labels = result.labels

    def ask(repeat: int) -> None:
        suggest(
            prep, X, labels, k=LOCALITY, strategy="lama", sample=CANDIDATES,
            rng=np.random.default_rng(repeat),
        )  # fmt: skip

    ask(0)
    rows = np.random.default_rng(0).choice(np.flatnonzero(labels == 0), CANDIDATES, replace=False)
    report(
        "suggest",
        median_ms(ask, 200),
        median_ms(lambda _: plain.suggest(X, prep.nn, labels, prep.gamma_bounds, rows), 1),
    )
    gamma = result.final.gamma
    C_UB = float(fit_cells(X, gamma=gamma, steps=2).C[-1])
    report(
        "C grid",
        median_ms(lambda _: fit_cells(X, gamma=gamma, steps=CELLS), 5),
        median_ms(lambda _: plain.fit_cells(X, gamma, C_UB, CELLS), 1),
    )
    bench_atlas(X, labels, np.where(np.isin(np.arange(len(y)), many), y, 0).astype(np.int8), prep)


def bench_atlas(X: FloatArray, labels: LabelArray, many: LabelArray, prep: Preparation) -> None:
    report("basis", median_ms(lambda _: belief_basis(X), 5))
    single_ms = median_ms(lambda _: fit_atlas(X, prep.gamma_bounds), 3)
    report("atlas", single_ms)
    atlas, basis = fit_atlas(X, prep.gamma_bounds), belief_basis(X)

    def asking(
        atlas: Atlas,
        basis: BeliefBasis,
        labels: LabelArray = labels,
        strategy: Strategy = "knowledge_gradient",
    ) -> float:
        def ask(repeat: int) -> None:
            suggest(
                prep, X, labels, k=LOCALITY, strategy=strategy, sample=CANDIDATES,
                rng=np.random.default_rng(repeat), atlas=atlas, basis=basis,
            )  # fmt: skip

        ask(0)
        return median_ms(ask, 200)

    outside = np.array([atlas.outside(cell) for cell in range(len(atlas))])
    ask_ms = asking(atlas, basis)
    plain_ms = median_ms(lambda _: plain.knowledge_gradient(X, labels, outside), 1)
    report("by atlas", ask_ms, plain_ms)
    report("1000 labels", asking(atlas, basis, many, "mixed"))
    report("choice", median_ms(lambda _: choose_cell(atlas, basis, labels), 200))
    auto_ms = median_ms(lambda _: fit_atlas(Views(X)), 3)
    report("auto", auto_ms)
    views = Views(X)
    auto = fit_atlas(views)
    ask_auto_ms = asking(auto, belief_basis(views.rows(views.belief)))
    report("by auto", ask_auto_ms)
    report("default", asking(auto, belief_basis(views.rows(views.belief)), labels, "mixed"))
    print(
        f"  several representations: {len(auto)} cells, atlas {auto_ms / single_ms:.2f} x, "
        f"suggestion {ask_auto_ms / ask_ms:.2f} x"
    )


def bench_labels() -> None:
    """Time suggestions by the default strategy and scaling where many rows have labels."""
    rows, features = 20_000, 10
    print(f"generated {rows} x {features}, many labels")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    y = np.ones(rows, dtype=np.int8)
    y[::100] = -1
    X[y == -1] *= 4.0
    views = Views(X)
    basis = belief_basis(views.rows(views.belief), survey=refined_basis(views).survey(views.raw))
    prep = prepare(views.rows(views.base), k=LOCALITY, rows=panel_rows(rows))
    atlas = fit_atlas(views, panel=basis.panel).on(Panel(basis.panel, basis.weights))
    order = rng.permutation(rows)
    for count in (1000, 10_000):
        labels = np.zeros(rows, dtype=np.int8)
        labels[order[:count]] = y[order[:count]]

        def ask(repeat: int, labels: LabelArray = labels) -> None:
            suggest(
                prep, views.rows(views.base), labels, k=LOCALITY, strategy="mixed",
                sample=CANDIDATES, rng=np.random.default_rng(repeat), atlas=atlas, basis=basis,
            )  # fmt: skip

        ask(0)
        report(f"{count} labels", median_ms(ask, 100))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory with NAME.npz files")
    parser.add_argument("--labels-only", action="store_true", help="only the many labels")
    given = parser.parse_args()
    with threadpool_limits(1):
        for name in () if given.labels_only else SHAPES:
            bench(*load(given.data, name))
        bench_labels()


if __name__ == "__main__":
    main()
