"""A person labels in a terminal: what ``svddtune label`` and `TerminalPrompt` are made of.

``controller.py`` decides, without I/O: commands and events in, requests out. ``sender.py`` sends
the requests to the service and returns the events; ``keyboard.py`` reads keys or lines;
``screen.py``, ``line_renderer.py`` and ``json_lines.py`` show the state; ``loop.py`` runs it all.
``output.py`` and ``console.py`` write for all commands.
"""
