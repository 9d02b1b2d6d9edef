import re

import pytest
from google.rpc import code_pb2
from tests.client.dialogue.statuses import status

from svddtune.client import errors
from svddtune.client.wire.status import from_status


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (code_pb2.INVALID_ARGUMENT, "DATASET_NOT_FINITE", errors.InvalidInput),
        (code_pb2.NOT_FOUND, "SESSION_NOT_FOUND", errors.NotFound),
        (code_pb2.FAILED_PRECONDITION, "SESSION_NOT_ACTIVE", errors.WrongState),
        (code_pb2.FAILED_PRECONDITION, "LEASE_LOST", errors.LeaseLost),
        (code_pb2.ABORTED, "ETAG_MISMATCH", errors.Conflict),
        (code_pb2.ALREADY_EXISTS, "ALREADY_ANSWERED", errors.Conflict),
        (code_pb2.RESOURCE_EXHAUSTED, "TOO_MANY_SESSIONS", errors.QuotaExceeded),
        (code_pb2.UNAVAILABLE, "STORE_UNAVAILABLE", errors.Unavailable),
        (code_pb2.UNAUTHENTICATED, "TOKEN_MISSING", errors.Unauthenticated),
        (code_pb2.PERMISSION_DENIED, "NOT_YOURS", errors.PermissionDenied),
        (code_pb2.INVALID_ARGUMENT, "PROTOCOL_VERSION_UNSUPPORTED", errors.ProtocolError),
        (code_pb2.INTERNAL, "INTERNAL", errors.InternalError),
        (code_pb2.UNKNOWN, "", errors.InternalError),
    ],
)
def test_status_is_raised_as_its_exception_class(
    code: int, reason: str, expected: type[errors.SvddtuneError]
) -> None:
    error = from_status(status(code, reason))
    assert type(error) is expected
    if reason:
        assert error.reason == reason


def test_error_keeps_values_and_delay() -> None:
    error = from_status(
        status(code_pb2.UNAVAILABLE, "STORE_UNAVAILABLE", retry_s=1.5, row="7", message="no store")
    )
    assert error.metadata == {"row": "7"}
    assert error.retry_after_s == pytest.approx(1.5)
    assert str(error) == "no store [STORE_UNAVAILABLE]"


def test_tree_in_the_docstring_has_all_exceptions() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or ""))
    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.SvddtuneError)
    }
    assert drawn | {"SvddtuneError"} == defined


def test_bad_input_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="gamma"):
        raise errors.InvalidInput("gamma = -1 is not positive")
