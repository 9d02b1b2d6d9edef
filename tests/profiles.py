"""How much the tests try: ``SVDDTUNE_TEST_PROFILE`` is ``fast`` (the default), ``ci`` or ``long``.

`make test` is fast, `make check` is ci, long is for nights. They run the same tests with fewer or
more random examples.
"""

import os

from hypothesis import settings

FACTORS = {"fast": 0.25, "ci": 1.0, "long": 20.0}
PROFILE = os.environ.get("SVDDTUNE_TEST_PROFILE", "fast")
if PROFILE not in FACTORS:
    raise ValueError(f"SVDDTUNE_TEST_PROFILE is {PROFILE!r}, expected one of {', '.join(FACTORS)}")

# Timeouts are for tests that hang; long runs take what they take.
IS_LONG = PROFILE == "long"


def sized(count: int, least: int = 1) -> int:
    """Size of a test, given that of profile ``ci``."""
    return max(least, round(count * FACTORS[PROFILE]))


def load() -> None:
    """Make the profile that of Hypothesis, for tests that state no number of examples."""
    # How long an example takes says more about the machine than about the code.
    settings.register_profile(PROFILE, deadline=None, max_examples=sized(100))
    settings.load_profile(PROFILE)
