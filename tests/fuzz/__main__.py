"""``python -m tests.fuzz``: fuzz every parser, guided by coverage, and every method of a service.

Ends with 1 at the first finding, and prints how to see it again.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import grpc
import typer
from rich.progress import Progress
from tests.e2e.processes import service
from tests.fuzz.calls import BROKEN, random_calls
from tests.fuzz.targets import make_targets
from tests.service.harness import harness_at

from svddtune.stack import EmbeddedServer

# What a parser may take for one input of at most this length.
_TIME_S, _MEMORY_MIB, _LONGEST = 10, 2048, 4096
# The service may grow by caches, which are bounded.
_GROWTH_MIB = 128
_CALLS = "calls"


def main(
    names: Annotated[list[str] | None, typer.Argument(help="targets; default all")] = None,
    runs: Annotated[int, typer.Option(help="inputs for each parser")] = 20_000,
    calls: Annotated[int, typer.Option(help="calls of the service")] = 50_000,
    seed: Annotated[int, typer.Option(help="of the random numbers")] = 1,
) -> None:
    """Fuzz; prints a line for each target."""
    targets = names or [*make_targets(), _CALLS]
    total = sum(calls if name == _CALLS else runs for name in targets)
    print(f"| target | inputs | seconds | memory |\n|---|---|---|---|  (seed {seed})")
    with Progress(transient=True) as progress:
        bar = progress.add_task("inputs", total=total)
        for name in targets:
            fuzz = _fuzz_calls if name == _CALLS else _fuzz_parser
            count = calls if name == _CALLS else runs
            begun = time.monotonic()
            memory = fuzz(name, count, seed, lambda done: progress.advance(bar, done))
            print(f"| {name} | {count:,} | {time.monotonic() - begun:.0f} | {memory} |", flush=True)
    print(f"{total:,} inputs, no finding")


def _fuzz_parser(name: str, runs: int, seed: int, advance: Callable[[int], object]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        options = {
            "runs": runs,
            "seed": seed,
            "timeout": _TIME_S,
            "rss_limit_mb": _MEMORY_MIB,
            "max_len": _LONGEST,
            "artifact_prefix": f"{tempfile.gettempdir()}/fuzz-{name}-",
        }
        done = subprocess.run(
            [
                *(sys.executable, "-m", "tests.fuzz.guided", name, str(corpus)),
                *(f"-{option}={value}" for option, value in options.items()),
            ],
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        raise SystemExit(f"{done.stderr[-4000:]}\nFinding in {name}; its input is named above.")
    advance(runs)
    (memory,) = re.findall(r"DONE .* rss: (\d+)Mb", done.stderr)
    return f"{memory} MiB"


def _fuzz_calls(_: str, runs: int, seed: int, advance: Callable[[int], object]) -> str:
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder), fsync="no") as redis:
        log = Path(folder) / "log"
        patience = ("--hello-timeout-s", "1", "--upload-timeout-s", "1")
        with (
            service(redis.url, "127.0.0.1:0", *patience, log=log) as process,
            grpc.insecure_channel(process.ready["address"]) as channel,
            harness_at(process.ready["address"], redis.url) as harness,
        ):
            first = 0
            for number, call in enumerate(random_calls(channel, harness, seed=seed, runs=runs)):
                if call.code in BROKEN:
                    raise SystemExit(f"Finding in {call}\n{log.read_text()[-4000:]}")
                if number == runs // 5:
                    first = _memory_mib(process.ready["pid"])
                advance(1)
            last = _memory_mib(process.ready["pid"])
        if last - first > _GROWTH_MIB:
            raise SystemExit(f"The service grew from {first} to {last} MiB")
        if '"exception"' in log.read_text():
            raise SystemExit(f"The log has a traceback:\n{log.read_text()[-4000:]}")
    return f"{first} to {last} MiB"


def _memory_mib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    (kib,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
    return int(kib) // 1024


if __name__ == "__main__":
    typer.run(main)
