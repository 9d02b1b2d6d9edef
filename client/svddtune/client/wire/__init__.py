"""Talking to the service: channels, calls, and conversion between messages and values."""
