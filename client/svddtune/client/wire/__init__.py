"""The calls of the service: messages to and from the client's values, channels, transfers."""
