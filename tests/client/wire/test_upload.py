import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import sized

from svddtune.client import (
    Conflict,
    InternalError,
    InvalidInput,
    NotFound,
    SvddtuneError,
    Unavailable,
)
from svddtune.client.wire.upload import Upload
from svddtune.fitted import matrix_of
from svddtune.v1 import dataset_pb2

MIB = 1 << 20


@settings(max_examples=sized(25))
@given(
    n=st.integers(1, 3000),
    m=st.integers(1, 60),
    id_length=st.integers(0, 200),
    display_length=st.integers(0, 4000),
)
def test_messages_stay_below_one_mebibyte_and_hold_every_row_once(
    n: int, m: int, id_length: int, display_length: int
) -> None:
    X = np.arange(n * m, dtype=float).reshape(n, m)
    ids = [f"{row}{'x' * id_length}" for row in range(n)] if id_length else None
    display = [{"text": "y" * display_length}] * n if display_length else None
    header, *chunks = Upload(X, observation_ids=ids, display=display).messages()
    assert header.header.observation_count == n
    assert header.header.feature_count == m
    assert all(chunk.ByteSize() < MIB for chunk in chunks)
    sent = np.vstack([matrix_of(chunk.chunk.rows) for chunk in chunks])
    np.testing.assert_array_equal(sent, X)
    assert [i for chunk in chunks for i in chunk.chunk.observation_ids] == (ids or [])
    assert sum(len(chunk.chunk.displays) for chunk in chunks) == (n if display else 0)


def rows_sent(upload: Upload) -> list[tuple[int, int]]:
    """Return the first row and the number of rows of each chunk."""
    _, *chunks = upload.messages()
    return [(one.chunk.first_row, one.chunk.rows.rows) for one in chunks]


def resumed(upload: Upload, row_count: int) -> None:
    """Let an upload learn what the service has."""
    call = upload.next_call()
    assert call.method == "GetUpload"
    assert call.parse(dataset_pb2.GetUploadResponse(row_count=row_count)) is None


def test_upload_goes_on_with_the_first_chunk_that_is_not_stored() -> None:
    upload = Upload(np.ones((3000, 100)))
    whole = rows_sent(upload)
    assert whole == [(0, 1200), (1200, 1200), (2400, 600)]
    assert 0 < upload.pause_s(Unavailable("gone")) <= 0.2
    resumed(upload, 1300)
    assert upload.next_call().method == "UploadDataset"
    assert rows_sent(upload) == whole[1:]
    upload.pause_s(Unavailable("gone"))
    assert upload.pause_s(NotFound("expired", reason="UPLOAD_NOT_FOUND")) == 0
    assert upload.next_call().method == "UploadDataset"
    assert rows_sent(upload) == whole


def test_upload_of_one_message_has_no_id() -> None:
    header, chunk = Upload(np.ones((5, 2))).messages()
    assert not header.header.HasField("upload_id")
    assert not chunk.chunk.HasField("first_row")


def test_upload_gives_up_after_attempts_without_progress() -> None:
    upload = Upload(np.ones((3000, 100)))
    for row_count in (1200, 2400):
        for _ in range(11):
            upload.pause_s(Unavailable("gone"))
        resumed(upload, row_count)
    for _ in range(11):
        upload.pause_s(Unavailable("gone"))
    with pytest.raises(Unavailable):
        upload.pause_s(Unavailable("gone"))


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput("bad", reason="DATASET_NOT_FINITE"),
        Conflict("late", reason="UPLOAD_TAKEN_OVER"),
        Unavailable("slow", reason="DEADLINE_EXCEEDED"),
        InternalError("failed", metadata={"error_id": "abc"}),
    ],
)
def test_upload_ends_with_an_error_that_would_come_again(error: SvddtuneError) -> None:
    with pytest.raises(type(error)):
        Upload(np.ones((3000, 100))).pause_s(error)


def test_upload_goes_on_after_a_failure_of_the_transport() -> None:
    upload = Upload(np.ones((3000, 100)))
    assert upload.pause_s(InternalError("Internal error from Core")) > 0


def test_upload_can_be_sent_twice() -> None:
    upload = Upload(np.ones((5, 2)), name="twice")
    assert list(upload.messages()) == list(upload.messages())


@pytest.mark.parametrize(
    ("options", "reason", "says"),
    [
        ({"observation_ids": ["a", "b", "a"]}, "DUPLICATE_OBSERVATION_ID", "'a' occurs in row 0"),
        (
            {"observation_ids": ["a"]},
            "INVALID_FIELD",
            "observation_ids has 1 entries, but X has 3 rows",
        ),
        (
            {"feature_names": ["a"]},
            "INVALID_FIELD",
            "feature_names has 1 entries, but X has 2 columns",
        ),
        ({"scaling": "zscore"}, "INVALID_FIELD", "allowed: none, minmax, robust, auto"),
    ],
)
def test_mismatched_arguments_are_refused_before_sending(
    options: dict[str, object], reason: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        Upload(np.zeros((3, 2)), **options)  # type: ignore[arg-type]
    assert refused.value.reason == reason
    assert says in refused.value.message
