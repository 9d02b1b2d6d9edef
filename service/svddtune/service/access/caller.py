"""The caller of the call that is being served: name, project and role."""

from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum, IntEnum, auto

from svddtune.service.access.faults import Forbidden
from svddtune.state import projects


class Permission(Enum):
    """What a call does, as far as it matters who may make it."""

    # See that sessions are there, and what they are doing.
    SEE = auto()
    # Read datasets, the label log, results and models, and judge rows by them.
    READ = auto()
    # Get queries and answer them.
    LABEL = auto()
    # Upload, create, steer and finish.
    TUNE = auto()
    # Change what others did: retract their votes, withdraw labelers, delete.
    GOVERN = auto()


class Role(IntEnum):
    """What a caller is within its project. The order is that of trust."""

    # Has said nothing of itself.
    NONE = 0
    VIEWER = 1
    LABELER = 2
    TUNER = 3
    ADMIN = 4

    def may(self, permission: Permission) -> bool:
        """Whether the role includes a permission."""
        return permission in _PERMISSIONS[self]


# (A labeler sees less of a session than a viewer does: the dataset is not its business.)
_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.NONE: frozenset(),
    Role.VIEWER: frozenset({Permission.SEE, Permission.READ}),
    Role.LABELER: frozenset({Permission.SEE, Permission.LABEL}),
    Role.TUNER: frozenset(Permission) - {Permission.GOVERN},
    Role.ADMIN: frozenset(Permission),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call.

    Attributes
    ----------
    name : str
        Its name in the label log; "" where the service asks nobody who they are. The labeler's
        name comes from the request then.
    project : str
        The project whose sessions, datasets and models it can reach.
    role : Role
        What it may do there.
    """

    name: str
    project: str
    role: Role

    def must_be(self, labeler: str, field: str) -> None:
        """Raise Forbidden (``LABELER_NOT_YOURS``) where a field names another labeler."""
        if self.known and labeler not in ("", self.name):
            raise Forbidden(
                "LABELER_NOT_YOURS",
                f"{field} is {labeler[:100]!r}, but the credentials are those of {self.name!r}: "
                "leave the field empty, or use the credentials of that labeler.",
                field=field,
                labeler=labeler,
                own=self.name,
            )

    @property
    def known(self) -> bool:
        """Whether the caller has shown who it is."""
        return bool(self.name)


# Every caller of a service without identity provider.
ANYBODY = Caller(name="", project=projects.DEFAULT, role=Role.ADMIN)
# A caller that shows no credentials to a service that asks for them.
NOBODY = Caller(name="", project=projects.DEFAULT, role=Role.NONE)

_current: ContextVar[Caller] = ContextVar("caller", default=ANYBODY)


def current() -> Caller:
    """Return the caller of the call that is being served."""
    return _current.get()


def serve_for(caller: Caller) -> None:
    """Let ``current`` return this caller in the task that serves its call, and in tasks of it."""
    _current.set(caller)
    projects.work_for(caller.project)
