"""Sessions under faults, from seeded schedules: ``python -m tests.chaos --schedules 100 --seed 1``.

Each schedule strikes one session of two labelers' programs, on two services, two workers and a
store, all of them real processes. A schedule that fails is told with the command that plays it
alone. With --json, one line for each schedule.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import asdict
from pathlib import Path

# One thread per process: threads of BLAS would wait busily for each other.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from tests.chaos.deployment import Deployment, deployed
from tests.chaos.play import PATIENCE_S, play
from tests.chaos.schedule import KINDS, LOST_DATA, OF_REPLICAS, OF_VERSIONS, Schedule, schedule
from tests.e2e.earlier import LAYOUT_3, NoEarlierVersion, extract

from svddtune.state import layout


class Run:
    """Schedules that were played, and what became of them."""

    def __init__(self, *, as_json: bool, patience_s: float, options: str) -> None:
        self._as_json, self._patience_s, self._options = as_json, patience_s, options
        self._begin = time.monotonic()
        self._faults: Counter[str] = Counter()
        self._labels = self._retracted = self._played = 0
        self._failed: list[int] = []

    def play(self, deployment: Deployment, given: Schedule) -> bool:
        """Play one; whether everything held."""
        line = {"seed": given.seed, "faults": [str(one) for one in given.faults]}
        self._played += 1
        self._faults.update(one.kind for one in given.faults)
        try:
            played = play(deployment, given, patience_s=self._patience_s)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {error}"
            line |= {"held": False, "error": told}
            self._failed.append(given.seed)
            kept = Path(tempfile.gettempdir()) / f"chaos-{given.seed}.log"
            shutil.copyfile(deployment.log, kept)
            print(
                f"{given}\n  {told}\n"
                f"  repeat it: python -m tests.chaos --seeds {given.seed}{self._options}\n"
                f"  log of the processes: {kept}",
                file=sys.stderr,
                flush=True,
            )
        else:
            line |= {"held": True, **asdict(played)}
            self._labels += played.labels
            self._retracted += played.retracted
        if self._as_json:
            print(json.dumps(line), flush=True)
        return given.seed not in self._failed

    def tell(self) -> int:
        """Print the sums; return the exit code."""
        seconds = time.monotonic() - self._begin
        sums = {
            "schedules": self._played,
            "failed": self._failed,
            "acknowledged labels": self._labels,
            "votes taken back": self._retracted,
            "seconds": round(seconds, 1),
            "faults": dict(sorted(self._faults.items())),
        }
        print(
            json.dumps(sums) if self._as_json else "\n".join(f"{k}: {v}" for k, v in sums.items())
        )
        return int(bool(self._failed))


def _earlier(commit: str, folder: Path) -> Path | None:
    """The tree of the earlier version, if there is one."""
    try:
        return extract(commit, folder / "earlier") if commit else None
    except NoEarlierVersion as missing:
        sys.exit(f"--previous: {missing}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--schedules", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first one; others follow")
    parser.add_argument("--seeds", type=int, nargs="+", help="these alone")
    parser.add_argument("--kinds", default="", help=f"these faults alone, of {', '.join(KINDS)}")
    parser.add_argument("--strategy", default="", help="this strategy alone")
    parser.add_argument(
        "--replicated", action="store_true", help="a store with a replica that Acks wait for"
    )
    parser.add_argument(
        "--previous",
        default="",
        metavar="COMMIT",
        help="begin with processes of this earlier version, and let faults swap them for those of "
        f"this one and back; one with layout 3 is {LAYOUT_3[:12]}",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=PATIENCE_S,
        help="seconds until nothing is thought to go on",
    )
    parser.add_argument("--json", action="store_true", help="a line of JSON for each schedule")
    given = parser.parse_args()
    kinds = [one for one in given.kinds.split(",") if one]
    if unknown := set(kinds) - {*KINDS, *OF_REPLICAS, *OF_VERSIONS}:
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    if given.previous and LOST_DATA in kinds:
        parser.error(f"{LOST_DATA} cannot strike with --previous")
    options = "".join(
        (
            f" --kinds {given.kinds}" if given.kinds else "",
            f" --strategy {given.strategy}" if given.strategy else "",
            " --replicated" if given.replicated else "",
            f" --previous {given.previous}" if given.previous else "",
        )
    )
    run = Run(as_json=given.json, patience_s=given.patience, options=options)
    left = [
        schedule(
            seed,
            kinds,
            strategy=given.strategy,
            replicated=given.replicated,
            versions=bool(given.previous),
        )
        for seed in given.seeds or range(given.seed, given.seed + given.schedules)
    ]
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(
        TextColumn("schedules"), *columns, console=console, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=len(left))
        while left:
            # After a failure everything starts anew, so that one fault is told once.
            with (
                tempfile.TemporaryDirectory(prefix="chaos-") as folder,
                deployed(
                    Path(folder),
                    replicated=given.replicated,
                    earlier=_earlier(given.previous, Path(folder)),
                ) as deployment,
            ):
                if not deployment.store.has_clock:
                    print("libfaketime is missing: the clock does not jump", file=sys.stderr)
                if given.previous:
                    # So that processes of that version can start at any moment.
                    with deployment.store.direct() as client:
                        layout.hold(client, held=True)
                while left:
                    next_one = left.pop(0)
                    held = run.play(deployment, next_one)
                    bar.advance(task)
                    if not held:
                        break
    return run.tell()


if __name__ == "__main__":
    sys.exit(main())
