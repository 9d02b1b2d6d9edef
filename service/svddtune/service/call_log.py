"""What every line of the log carries that a call causes: method, project, caller, labeler, session.

Lines of tasks that the call begins carry it too.
"""

from google.protobuf.descriptor import MethodDescriptor
from structlog.contextvars import bind_contextvars

from svddtune.service.access.caller import Caller
from svddtune.state import keys

_LONGEST = 100


def method_name(method: MethodDescriptor) -> str:
    """The name of a method, as logs and metrics have it: ``TuningService/GetSession``."""
    return f"{method.containing_service.name}/{method.name}"


def name_method(method: MethodDescriptor) -> None:
    """Let lines name the method that is called."""
    bind_contextvars(method=method_name(method))


def name_caller(caller: Caller) -> None:
    """Let lines name the caller, if it has a name, and its project."""
    bind_contextvars(project=caller.project, **({"caller": caller.name} if caller.known else {}))


def name_labeler(labeler: str) -> None:
    """Let lines name the labeler, whose name may be anything yet."""
    if labeler:
        bind_contextvars(labeler=labeler[:_LONGEST])


def name_session(name: str) -> None:
    """Let lines name the session of a resource name, if it is a session's or a result's."""
    collection, _, rest = name.partition("/")
    found = rest.partition("/")[0]
    if collection == "sessions" and keys.is_session_id(found):
        bind_contextvars(session_id=found)
