"""Webhooks: session events that are sent, and alerts and verdicts that are received."""
