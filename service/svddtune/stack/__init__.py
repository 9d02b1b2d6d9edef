"""The whole stack on this machine: a Redis-compatible server, the service and some workers.

``embedded.py`` starts the server, ``supervisor.py`` the rest; ``guard.py`` sees to it that nothing
outlives the process that started it. Nothing here imports gRPC.
"""

from svddtune.stack.embedded import EmbeddedServer, StackError

__all__ = ["EmbeddedServer", "StackError"]
