"""``python -m tests.fuzz.guided TARGET CORPUS -runs=N``: one target, guided by coverage (atheris).

libFuzzer's options follow. It ends the process with the input where a parser crashes, takes longer
than ``-timeout`` seconds or more memory than ``-rss_limit_mb``.
"""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["svddtune"]):
    from tests.fuzz.targets import make_targets


def main() -> None:
    """Fuzz the target that the command line names."""
    name, corpus, *options = sys.argv[1:]
    target = make_targets()[name]
    for number, seed in enumerate(target.seeds):
        (Path(corpus) / f"seed{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], corpus, *options], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
