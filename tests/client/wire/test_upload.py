import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import sized

from svddtune.client import InvalidInput
from svddtune.client.wire.convert import matrix_from_proto
from svddtune.client.wire.upload import Upload

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
    sent = np.vstack([matrix_from_proto(chunk.chunk.rows) for chunk in chunks])
    np.testing.assert_array_equal(sent, X)
    assert [i for chunk in chunks for i in chunk.chunk.observation_ids] == (ids or [])
    assert sum(len(chunk.chunk.displays) for chunk in chunks) == (n if display else 0)


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
