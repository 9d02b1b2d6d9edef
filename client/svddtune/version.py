"""The version of all packages of the project; ``tools/set_version.py`` writes it."""

__version__ = "0.2.0"
