"""What trusts regain of the kappa that a labeler who errs costs.

    python benchmarks/bench_trust.py --data DIR [--seeds 5] [--budget 50] [--rows 2000]

Two labelers share the queries of a session by the default strategy, one vote each: ann is wrong on
2 % of them, bob on 25 %. What the session is told of it decides how certain labels are: nothing;
one rate of wrong answers for both (`label_noise`); the rate of each (`trusts`); or the trust that
ten control items of each measure, (4 + right) / (5 + 10). The 2 + 2 initial labels are true. Kappa
is that of the final classifier on all rows against the truth, for every NAME.npz in DIR (with X and
y) of at most --rows rows. The mistakes of a seed are the same however much is told.
"""

import argparse
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from svddtune.numerics import (
    Atlas,
    BeliefBasis,
    FloatArray,
    LabelArray,
    Preparation,
    Views,
    belief_basis,
    choose_cell,
    draw_initial,
    fit_atlas,
    predicted_labels,
    prepare,
    query_rng,
    score,
    suggest,
)

LOCALITY = 5
CANDIDATES = 100
WRONG = np.array([0.02, 0.25])
CONTROLS = 10
TOLD = ("no mistakes", "nothing", "one rate", "trusts", "measured trusts")


def certainties(told: str, seed: int) -> FloatArray:
    """What a label of each labeler is taken to be right with."""
    if told == "one rate":
        return np.full(2, 1.0 - WRONG.mean())
    if told == "trusts":
        return 1.0 - WRONG
    if told == "measured trusts":
        right = np.random.default_rng([103, seed]).binomial(CONTROLS, 1.0 - WRONG)
        return np.asarray((4 + right) / (5 + CONTROLS))
    return np.ones(2)


def session(
    y: LabelArray, X: FloatArray, prep: Preparation, atlas: Atlas, basis: BeliefBasis,
    *, told: str, budget: int, seed: int,
) -> float:  # fmt: skip
    """Kappa on all rows after a session."""
    rng = np.random.default_rng([102, seed])
    who = rng.integers(2, size=len(y))
    wrong = (rng.random(len(y)) < WRONG[who]) & (told != "no mistakes")
    right = certainties(told, seed)
    labels, certainty = np.zeros_like(y), np.ones(len(y))
    initial = draw_initial(y, 2, 2, seed)
    labels[initial] = y[initial]
    for number in range(len(initial), min(budget, len(y))):
        suggestion = suggest(
            prep, X, labels, k=LOCALITY, strategy="mixed", sample=CANDIDATES,
            rng=query_rng(seed, number, number), atlas=atlas, basis=basis, certainty=certainty,
        )  # fmt: skip
        row = int(suggestion.rows[0])
        labels[row] = -y[row] if wrong[row] else y[row]
        certainty[row] = right[who[row]]
    choice = choose_cell(atlas, basis, labels, criterion="evidence", certainty=certainty)
    return float(score(y, predicted_labels(choice, atlas, np.arange(len(y)))))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.npz files")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--rows", type=int, default=2000, help="most rows of a set")
    given = parser.parse_args()
    print(f"| set | {' | '.join(TOLD)} |")
    print("|---" * (1 + len(TOLD)) + "|")
    found = []
    for path in sorted(given.data.glob("*.npz")):
        with np.load(path, allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"].astype(np.int8)
        if len(X) > given.rows or min(np.sum(y > 0), np.sum(y < 0)) < 2:
            continue
        views = Views(X, "none")
        prep, basis = prepare(views.X, k=LOCALITY), belief_basis(views.rows(views.belief))
        atlas = fit_atlas(views, panel=basis.panel)
        kappas = [
            [
                session(
                    y, views.X, prep, atlas, basis, told=told, budget=given.budget, seed=seed
                )
                for told in TOLD
            ]
            for seed in range(given.seeds)
        ]  # fmt: skip
        found.append(kappas)
        means = np.mean(kappas, axis=0)
        print(f"| {path.stem} | {' | '.join(f'{one:.3f}' for one in means)} |", flush=True)
    if found:
        of_seeds = np.mean(found, axis=0)
        print(f"| mean | {' | '.join(f'{one:.3f}' for one in of_seeds.mean(axis=0))} |")
    if found and given.seeds > 1:
        print("\nGained, ± one standard error over the seeds:")
        for one, other in ((2, 1), (3, 1), (4, 1), (3, 2), (4, 2)):
            gained = of_seeds[:, one] - of_seeds[:, other]
            error = gained.std(ddof=1) / np.sqrt(len(gained))
            print(f"{TOLD[one]} against {TOLD[other]}: {gained.mean():+.3f} ± {error:.3f}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
