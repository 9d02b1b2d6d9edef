"""The conformance suite for clients and servers in any language; see README.md."""
