"""Mean kappa of the final classifier on all rows, over benchmark sets and seeds.

    python benchmarks/bench_kappa.py --data DIR [--seeds 5] [--budget 50] [--rule plateau]

The paper's measure: 2 + 2 initial labels, queries up to the budget, 20 linear C cells. Sets that
are not found are skipped.
"""

import argparse
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from svddtune.numerics import STRATEGIES, prepare, run, score

SETS = (
    "Annthyroid",
    "Cardiotocography",
    "Glass",
    "HeartDisease",
    "Hepatitis",
    "Ionosphere",
    "Lymphography",
    "PageBlocks",
    "Pima",
    "Shuttle",
    "SpamBase",
    "Stamps",
    "WBC",
    "WDBC",
    "WPBC",
    "Waveform",
)
LEAST = {"Ionosphere": 0.60, "WBC": 0.50, "PageBlocks": 0.28}
LEAST_MEAN = 0.225


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with NAME.npz files")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--rule", choices=("plateau", "first"), default="plateau")
    arguments = parser.parse_args()
    rows = []
    print(f"{'':18}" + "".join(f"{strategy:>9}" for strategy in STRATEGIES))
    for name in SETS:
        path = arguments.data / f"{name}.npz"
        if not path.exists():
            print(f"{name:18} not found, skipped")
            continue
        with np.load(path, allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"]
        prep = prepare(X, k=5)
        means = []
        for strategy in STRATEGIES:
            results = [
                run(X, y, budget=arguments.budget, strategy=strategy, seed=seed, prep=prep,
                    rule=arguments.rule)
                for seed in range(arguments.seeds)
            ]  # fmt: skip
            kappas = [float(score(y, result.final.predictions)) for result in results]
            means.append(float(np.mean(kappas)))
        rows.append(means)
        note = f"  least {LEAST[name]:.2f}" if name in LEAST else ""
        print(f"{name:18}" + "".join(f"{mean:9.3f}" for mean in means) + note, flush=True)
    if rows:
        print(f"{'mean':18}" + "".join(f"{mean:9.3f}" for mean in np.mean(rows, axis=0)), end="")
        print(f"  least {LEAST_MEAN} (lama, {len(SETS)} sets)")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
