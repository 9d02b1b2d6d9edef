"""Settings of the property tests."""

from hypothesis import settings

# Machines are shared: a slow example is no failure.
settings.register_profile("numerics", deadline=None)
settings.load_profile("numerics")
