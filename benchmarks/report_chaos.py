"""Write what ``python -m tests.chaos --json`` told into a page, between two marks.

python -m tests.chaos --schedules 1000 --seed 1 --json > runs.jsonl
python benchmarks/report_chaos.py runs.jsonl [more.jsonl ...] [--page docs/reliability.md]
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from pages import written


def schedules_of(paths: list[Path]) -> list[dict[str, Any]]:
    """Read the lines of single schedules, by seed."""
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    # The last line of a run has its sums.
    by_seed = {one["seed"]: one for one in lines if "seed" in one}
    return [by_seed[seed] for seed in sorted(by_seed)]


def spans(seeds: list[int]) -> str:
    """Name seeds by first and last of each row of neighbours."""
    found: list[list[int]] = []
    for seed in seeds:
        if found and seed == found[-1][1] + 1:
            found[-1][1] = seed
        else:
            found.append([seed, seed])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in found)


def report(schedules: list[dict[str, Any]]) -> str:
    """The sums, and a table of the kinds of faults."""
    held = [one for one in schedules if one["held"]]
    failed = [one["seed"] for one in schedules if not one["held"]]
    seconds = sum(one["seconds"] for one in held)
    labels, retracted, unknown = (
        sum(one[what] for one in held) for what in ("labels", "retracted", "unknown")
    )
    struck: Counter[str] = Counter()
    in_failed: Counter[str] = Counter()
    for one in schedules:
        kinds = [fault.partition("@")[0] for fault in one["faults"]]
        struck.update(kinds)
        in_failed.update(set(kinds) if not one["held"] else ())
    table = "\n".join(
        f"| `{kind}` | {count:,} | {in_failed[kind]} |" for kind, count in sorted(struck.items())
    )
    return (
        f"{len(schedules):,} schedules with the seeds {spans([one['seed'] for one in schedules])}: "
        f"{len(held):,} held and {len(failed)} did not{': ' + spans(failed) if failed else ''}. "
        f"{struck.total():,} faults struck, {labels:,} labels were acknowledged, {retracted:,} "
        f"votes taken back, and {unknown:,} answers never acknowledged because their labeler was "
        f"killed or the data were lost. A schedule took {seconds / max(1, len(held)):.1f} s on "
        f"average.\n\n| fault | struck | schedules with it that failed |\n|---|---|---|\n{table}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+", help="files with the output of --json")
    parser.add_argument("--page", type=Path, help="page to write into")
    parser.add_argument("--name", default="chaos", help="of the marks on the page")
    given = parser.parse_args()
    text = report(schedules_of(given.runs))
    if given.page is None:
        print(text)
    else:
        page = given.page.read_text(encoding="utf-8")
        given.page.write_text(written(page, given.name, text), encoding="utf-8")


if __name__ == "__main__":
    main()
