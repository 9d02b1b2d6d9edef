"""What somebody may count of the calls to Redis: one observer per process, none by default."""

from typing import Protocol


class Observer(Protocol):
    """Is told of calls, in whatever thread makes them."""

    def script_ran(self, script: str, seconds: float) -> None:
        """A script has replied, after so long with the way there and back."""

    def attempt_failed(self) -> None:
        """The connection failed or the server is not the master; a new connection is made."""

    def leases_expired(self, count: int) -> None:
        """So many leases have run out."""


class _Nobody:
    def script_ran(self, script: str, seconds: float) -> None:
        pass

    def attempt_failed(self) -> None:
        pass

    def leases_expired(self, count: int) -> None:
        pass


_observer: Observer = _Nobody()


def observe(observer: Observer) -> None:
    """Tell this observer of all further calls of the process."""
    global _observer
    _observer = observer


def observer() -> Observer:
    """The observer of the process."""
    return _observer
