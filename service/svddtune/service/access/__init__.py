"""Who calls, and what callers may do: identities, roles, projects.

``caller`` says who calls, ``permissions`` what each call needs, ``guard`` puts both in front of the
servicers, whether a call comes by gRPC or by HTTP.
"""
