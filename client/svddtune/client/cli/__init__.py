"""The command line: nothing but a surface over the public library."""

from svddtune.client.cli.app import main

__all__ = ["main"]
