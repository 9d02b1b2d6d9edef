"""``python -m svddtune``: the command line."""

from svddtune.client.cli import main

main()
