"""The gRPC process: speaks the protocol and keeps state in ``svddtune.state``.

It computes nothing but the scores of new rows by fitted models (``scoring.py``).
``server.py`` puts the process together, ``dialogue.py`` is the dialogue with a labeler, and
``status.py`` turns errors into gRPC statuses.
"""
