"""The dialogue of one labeler with the service.

``machine.py`` decides, without I/O; ``holding.py``, ``pending.py`` and ``served.py`` are what it
remembers. ``reconnect.py`` says when the next stream is opened; ``stream.py`` runs the dialogue on
streams, ``unary.py`` by single calls where the network carries no streams.
"""
