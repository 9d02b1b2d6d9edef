"""Why a call is refused to its caller."""

from svddtune.state.errors import StateError


class Unauthenticated(StateError):
    """The service asks who calls, and the call does not show it."""


class Forbidden(StateError):
    """The caller may not do what the call does."""


class ProviderAway(StateError):
    """What is needed to check credentials cannot be reached."""


def missing() -> Unauthenticated:
    """Return the refusal of a call without credentials."""
    return Unauthenticated(
        "CREDENTIALS_MISSING",
        "This service asks who calls: send a token in the header authorization, or a client "
        "certificate.",
    )


def invalid(why: str = "the service does not know them") -> Unauthenticated:
    """Return the refusal of credentials that prove nobody."""
    return Unauthenticated("CREDENTIALS_INVALID", f"The credentials prove nobody: {why}.")
