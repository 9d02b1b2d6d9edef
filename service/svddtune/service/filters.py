"""Which sessions and datasets a list call asks for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from svddtune.service import names, validate
from svddtune.state.session import Session
from svddtune.v1 import tuning_pb2


class Listed(Protocol):
    """What people name and label."""

    @property
    def display_name(self) -> str:
        """The name for people."""
        ...

    @property
    def labels(self) -> Mapping[str, str]:
        """Keys and values."""
        ...


def by_name_and_labels(display_name: str, labels: Sequence[str]) -> Callable[[Listed], bool]:
    """Whether something has a text in its name and all labels, each "key=value".

    Raises InvalidInput (``INVALID_FIELD``).
    """
    text, wanted = display_name.casefold(), validate.label_filter(labels)

    def accept(one: Listed) -> bool:
        return text in one.display_name.casefold() and all(
            one.labels.get(key) == value for key, value in wanted
        )

    return accept


def of_sessions(request: tuning_pb2.ListSessionsRequest) -> Callable[[Session], bool]:
    """Whether a session is among those that a request asks for.

    Raises InvalidInput (``INVALID_FIELD``, ``INVALID_NAME``), NotFound (``DATASET_NOT_FOUND``).
    """
    known = tuning_pb2.SessionState.DESCRIPTOR.values_by_number
    for index, number in enumerate(request.states):
        if number not in known or number == tuning_pb2.SESSION_STATE_UNSPECIFIED:
            raise validate.invalid_field(f"states[{index}]", number, "a SessionState")
    states = {known[number].name.removeprefix("SESSION_STATE_") for number in request.states}
    dataset = names.dataset_id(request.dataset, "dataset") if request.dataset else None
    is_named_so = by_name_and_labels(request.display_name, request.labels)

    def accept(session: Session) -> bool:
        return (
            (not states or session.state.value in states)
            and dataset in (None, session.dataset_id)
            and is_named_so(session)
        )

    return accept
