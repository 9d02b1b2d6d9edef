"""``python -m svddtune.client``: the command line."""

from svddtune.client.cli import main

main()
