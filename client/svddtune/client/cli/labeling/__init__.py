"""A person labels in a terminal: what ``svddtune label`` is made of.

``desk.py`` decides, without I/O: commands and news in, orders out. ``talk.py`` carries the orders
to the service and brings the news; ``keyboard.py`` reads keys or lines; ``screen.py``, ``plain.py``
and ``json_lines.py`` show the desk; ``loop.py`` runs it all.
"""
