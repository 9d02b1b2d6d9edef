"""What a tuning session is, and how Redis keeps it.

Read ``session.py`` for the values, ``keys.py`` for what is stored where, and ``scripts/`` for
every change of state: one Lua script each. The service uses the asynchronous ``SessionStore`` and
``DatasetStore``, workers the synchronous ``JobQueue`` and ``Workspace``.
"""
