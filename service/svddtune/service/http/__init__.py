"""The calls as JSON over HTTP: the same servicers, by the ``google.api.http`` rules of the protos.

``methods`` collects the servicers' methods, ``rules`` finds the method and the request of an HTTP
request, ``gateway`` calls it, ``streams`` and ``errors`` write what comes back, ``server`` listens.
``openapi.json``, which `tools/generate_openapi.py` makes, describes it. ``connect`` is a second
way to the same methods, for clients that Connect generates.
"""
