"""The operator's commands: they look into the store, where the client's commands ask the service.

Each module has one command as ``app``, a typer app. ``svddtune.client.cli.operation`` lists them
and loads a module when its command is called, so the program also runs where the client alone is
installed.
"""
