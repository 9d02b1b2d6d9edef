"""``svddtune doctor``: what is wrong with a deployment, and what to do.

``findings.py`` says what a finding is. ``store.py``, ``queues.py``, ``sessions.py`` and
``usage.py`` look into the store, ``files.py`` at the files of a service and ``reach.py`` at a
running service. They change nothing.
"""

from svddtune.admin.doctor.command import app

__all__ = ["app"]
