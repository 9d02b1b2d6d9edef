"""The command line over the public library."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; README.md lists the codes."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from svddtune.client.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("svddtune"):
            raise
        from svddtune.client.cli.failure import fail

        text = (
            f"The command line needs {error.name}; install it with: "
            "pip install 'svddtune-client[cli]'"
        )
        sys.exit(fail(text, "NOT_INSTALLED", as_json="--json" in given))
    sys.exit(run(given))
