"""Values survive encoding and decoding."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from svddtune.state import codec, keys
from svddtune.state.session import DatasetId


@given(
    arrays(
        st.sampled_from([np.float64, np.int32, np.int8, np.uint8, np.bool_]),
        array_shapes(min_dims=0, max_dims=3, min_side=0),
    )
)
def test_arrays_keep_dtype_and_shape(array: NDArray[Any]) -> None:
    back = codec.unpack_arrays(codec.pack_arrays({"a": array}))["a"]
    assert back.shape == array.shape
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_object_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="objects"):
        codec.pack_arrays({"a": np.array([object()])})


@given(st.binary(max_size=50))
def test_split_keeps_every_byte(data: bytes) -> None:
    assert b"".join(codec.split(data)) == data


@given(st.integers(0, 999), st.integers(1, 64))
def test_id_names_its_partition(partition: int, partitions: int) -> None:
    assert keys.partition_of_session(keys.new_session_id(partition)) == partition
    dataset_id = DatasetId(f"{partition:032x}")
    assert 0 <= keys.partition_of_dataset(dataset_id, partitions) < partitions


@pytest.mark.parametrize(
    "text", ["", "p00-xyz", "p0-0123456789abcdef0123", "../etc", "P00-" + "0" * 20]
)
def test_malformed_session_id_is_refused(text: str) -> None:
    assert not keys.is_session_id(text)
