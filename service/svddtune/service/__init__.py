"""The gRPC process: speaks the protocol, keeps state in ``svddtune.state``, computes nothing.

Read ``server.py`` for how it is put together, ``dialogue.py`` for the dialogue with a labeler and
``status.py`` for what callers are told when something is wrong.
"""
