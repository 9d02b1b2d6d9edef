"""The whole stack on this machine: a Redis-compatible server, the service and some workers.

``embedded.py`` starts the server, and ``supervisor.py`` starts the rest. ``guard.py`` ends a child
process with the process that started it. Nothing here imports gRPC.
"""

from svddtune.stack.embedded import EmbeddedServer, StackError

__all__ = ["EmbeddedServer", "StackError"]
