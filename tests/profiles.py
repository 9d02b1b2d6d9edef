"""Sizes of tests: ``SVDDTUNE_TEST_PROFILE`` is ``fast`` (the default), ``ci`` or ``long``.

`make test` uses fast, `make check` uses ci, and long is for nightly runs. They run the same tests
with fewer or more random examples.
"""

import os

from hypothesis import settings

FACTORS = {"fast": 0.25, "ci": 1.0, "long": 20.0}
PROFILE = os.environ.get("SVDDTUNE_TEST_PROFILE", "fast")
if PROFILE not in FACTORS:
    raise ValueError(f"SVDDTUNE_TEST_PROFILE is {PROFILE!r}, expected one of {', '.join(FACTORS)}")

# Timeouts find tests that hang; long runs have none.
IS_LONG = PROFILE == "long"


def sized(count: int, least: int = 1) -> int:
    """Scale the size of a test in profile ``ci`` to the current profile."""
    return max(least, round(count * FACTORS[PROFILE]))


def load() -> None:
    """Load the profile into Hypothesis, for tests that set no number of examples."""
    # The time of an example depends more on the machine than on the code.
    settings.register_profile(PROFILE, deadline=None, max_examples=sized(100))
    settings.load_profile(PROFILE)
