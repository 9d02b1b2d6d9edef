"""The gRPC process: speaks the protocol, keeps state in ``svddtune.state``, computes nothing.

``server.py`` puts the process together, ``dialogue.py`` is the dialogue with a labeler, and
``status.py`` turns errors into gRPC statuses.
"""
