"""The command line of the suite: ``python -m conformance --help``."""

import argparse
import asyncio
import fnmatch
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from conformance import report, script, vectors
from conformance.driver import play_to_server
from conformance.program import ABILITIES, Client, play_to_client
from conformance.script import Outcome, Script
from svddtune.client import EmbeddedStack

OWN = "own"
# Programs wait most of the time.
_AT_ONCE = 4


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m conformance",
        description="Test a client or a server of svddtune; conformance/README.md tells how.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--client", metavar="COMMAND", help="the program of the client under test")
    what.add_argument(
        "--server",
        metavar="ADDRESS",
        nargs="?",
        const=OWN,
        help="HOST:PORT of the server under test; without it a service of this project is started",
    )
    what.add_argument("--list", action="store_true", help="print all scripts and vectors")
    parser.add_argument(
        "--script", metavar="PATTERN", default="*", help='only these, e.g. "drain*"'
    )
    parser.add_argument(
        "--without",
        metavar="ABILITY",
        action="append",
        default=[],
        choices=ABILITIES,
        help=f"what the client cannot do: {', '.join(ABILITIES)}; may be repeated",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the outcomes as JSON")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write the outcomes as XML")
    parser.add_argument("--verbose", action="store_true", help="print the frames of all scripts")
    return parser


async def run_all(
    scripts: Sequence[Script], play: Callable[[Script], Awaitable[Outcome]]
) -> list[Outcome]:
    """Play scripts, a few at a time; return their outcomes in the order of the scripts."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(each: Script) -> Outcome:
        async with places:
            return await play(each)

    return list(await asyncio.gather(*map(one, scripts)))


def chosen(side: str, pattern: str) -> list[Script]:
    """Return the scripts for one side whose names match a pattern."""
    return [one for one in script.load(side) if fnmatch.fnmatch(one.name, pattern)]


async def play_all(client: Client, pattern: str = "*") -> list[Outcome]:
    """Play the scripts to a client, and pass the vectors through it."""
    outcomes = await run_all(chosen("clients", pattern), lambda one: play_to_client(client, one))
    checked = await vectors.check(client) if vectors.matching(pattern) else []
    return outcomes + [one for one in checked if fnmatch.fnmatch(one.name, pattern)]


async def play_all_to_server(address: str, pattern: str) -> list[Outcome]:
    """Play the scripts to a server."""
    return await run_all(chosen("servers", pattern), lambda one: play_to_server(address, one))


def play(options: argparse.Namespace) -> list[Outcome]:
    """Test what the command line names."""
    if options.server == OWN:
        with EmbeddedStack(workers=1) as stack:
            return asyncio.run(play_all_to_server(stack.address, options.script))
    if options.server:
        return asyncio.run(play_all_to_server(options.server, options.script))
    client = Client(shlex.split(options.client), abilities=ABILITIES - set(options.without))
    return asyncio.run(play_all(client, options.script))


def main() -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args()
    if options.list:
        for side in ("clients", "servers"):
            for one in script.load(side):
                print(f"{side}: {one.name}: {one.summary}")
        for vector in vectors.load():
            print(f"vectors: {vector['name']}: {vector['summary']}")
        return 0
    outcomes = play(options)
    if not outcomes:
        print(f"No script or vector is called {options.script!r}; see --list", file=sys.stderr)
        return 2
    report.show(outcomes, verbose=options.verbose)
    if options.json:
        report.write_json(outcomes, options.json)
    if options.junit:
        report.write_junit(outcomes, "conformance", options.junit)
    return int(any(one.failure for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
