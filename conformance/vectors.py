"""Compares what a client makes of encoded values with what they mean."""

import asyncio
import fnmatch
import json
import math
from collections.abc import Mapping
from pathlib import Path

from conformance.frames import Json
from conformance.program import Client, end
from conformance.script import Outcome

VECTORS = Path(__file__).parent / "vectors" / "vectors.json"
_WITHIN_S = 60.0
# Kernels are summed in any order.
_RELATIVE = 1e-9


def load() -> list[dict[str, Json]]:
    """Return all vectors."""
    vectors: list[dict[str, Json]] = json.loads(VECTORS.read_text())["vectors"]
    return vectors


def matching(pattern: str) -> list[str]:
    """Return the names of the vectors that a pattern matches."""
    return fnmatch.filter([vector["name"] for vector in load()], pattern)


async def check(client: Client) -> list[Outcome]:
    """Pass all vectors through a client."""
    process = await client.start("vectors", str(VECTORS))
    try:
        async with asyncio.timeout(_WITHIN_S):
            out, errors = await process.communicate()
    except TimeoutError:
        end(process)
        out, errors = b"", f"the program did not end within {_WITHIN_S:g} s".encode()
    printed = {}
    for line in out.decode().splitlines():
        values = json.loads(line)
        printed[values.pop("name")] = values
    outcomes = []
    for vector in load():
        outcome = Outcome(vector["name"], vector["summary"], vector=vector["kind"])
        outcome.skipped = client.missing(vector.get("needs", ()))
        if not outcome.skipped:
            outcome.failure = _compare(vector, printed.get(vector["name"]))
            outcome.transcript = errors.decode(errors="replace").splitlines()[-20:]
        outcomes.append(outcome)
    return outcomes


def _compare(vector: Mapping[str, Json], printed: Mapping[str, Json] | None) -> str:
    """Return what is wrong with what the client has printed, empty if nothing is."""
    if printed is None:
        return "the program printed nothing for it"
    expected = vector["expected"]
    # An error need not hold every detail, but those that it holds must be right.
    required = {"reason"} if vector["kind"] == "status" else set(expected)
    for key in expected:
        if key not in printed:
            if key in required:
                return f"{key} is missing; expected: {json.dumps(expected[key])}"
        elif not _same(printed[key], expected[key]):
            return f"{key} is {json.dumps(printed[key])}; expected: {json.dumps(expected[key])}"
    return ""


def _same(printed: Json, expected: Json) -> bool:
    if isinstance(expected, list) and isinstance(printed, list):
        pairs = zip(printed, expected, strict=False)
        return len(printed) == len(expected) and all(_same(*pair) for pair in pairs)
    if isinstance(expected, float) and isinstance(printed, int | float):
        return math.isclose(printed, expected, rel_tol=_RELATIVE, abs_tol=1e-12)
    return bool(printed == expected)
