"""Resource names of datasets, sessions, results and models.

They are "datasets/{id}", "sessions/{id}", "sessions/{id}/results/{revision or -}", "models/{id}".
"""

import re

from svddtune.state import keys
from svddtune.state.errors import InvalidInput, NotFound
from svddtune.state.session import DatasetId, ModelId, SessionId

_DATASET = re.compile(r"datasets/([^/]+)")
_MODEL = re.compile(r"models/([^/]+)")
_SESSION = re.compile(r"sessions/([^/]+)")
_RESULT = re.compile(r"sessions/([^/]+)/results/([1-9][0-9]{0,8}|-)")


def dataset_name(dataset_id: DatasetId) -> str:
    """Name of a dataset."""
    return f"datasets/{dataset_id}"


def session_name(session_id: SessionId) -> str:
    """Name of a session."""
    return f"sessions/{session_id}"


def result_name(session_id: SessionId, revision: int) -> str:
    """Name of a result."""
    return f"sessions/{session_id}/results/{revision}"


def model_name(model_id: ModelId) -> str:
    """Name of an uploaded model."""
    return f"models/{model_id}"


def dataset_id(name: str, field: str = "name") -> DatasetId:
    """Inverse of ``dataset_name``.

    Raises InvalidInput (``INVALID_NAME``), NotFound if no dataset can have that id.
    """
    (found,) = _parts(_DATASET, name, field, "datasets/{dataset}")
    if not keys.is_dataset_id(found):
        raise NotFound("DATASET_NOT_FOUND", f"There is no dataset {found}.", dataset=found)
    return DatasetId(found)


def session_id(name: str, field: str = "name") -> SessionId:
    """Inverse of ``session_name``.

    Raises InvalidInput (``INVALID_NAME``), NotFound if no session can have that id.
    """
    (found,) = _parts(_SESSION, name, field, "sessions/{session}")
    return _known_form(found)


def result_id(name: str, field: str = "name") -> tuple[SessionId, int | None]:
    """Inverse of ``result_name``; the revision is None for the latest.

    Raises InvalidInput (``INVALID_NAME``), NotFound if no session can have that id.
    """
    found, revision = _parts(_RESULT, name, field, "sessions/{session}/results/{revision or -}")
    return _known_form(found), None if revision == "-" else int(revision)


def model_id(name: str, field: str = "name") -> ModelId:
    """Inverse of ``model_name``.

    Raises InvalidInput (``INVALID_NAME``), NotFound if no model can have that id.
    """
    (found,) = _parts(_MODEL, name, field, "models/{model}")
    if not keys.is_model_id(found):
        raise NotFound("MODEL_NOT_FOUND", f"There is no model {found}.", model=found)
    return ModelId(found)


def is_model_name(name: str) -> bool:
    """Whether a name is meant for an uploaded model, as opposed to a result."""
    return name.startswith("models/")


def _known_form(found: str) -> SessionId:
    if not keys.is_session_id(found):
        raise NotFound("SESSION_NOT_FOUND", f"There is no session {found}.", session=found)
    return SessionId(found)


def _parts(pattern: re.Pattern[str], name: str, field: str, form: str) -> tuple[str, ...]:
    match = pattern.fullmatch(name)
    if match is None:
        raise InvalidInput(
            "INVALID_NAME",
            f"{field} is {name[:100]!r}; it must have the form {form}.",
            field=field,
            value=name,
            allowed=form,
        )
    return match.groups()
