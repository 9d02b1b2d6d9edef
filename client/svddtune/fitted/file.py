"""Model files: a ZIP archive of NPY arrays and a manifest, see `docs/model-format.md`."""

from __future__ import annotations

import json
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from svddtune.fitted.model import FittedModel, ModelDamaged, fields_of_parts

FORMAT = "svddtune-model"
FORMAT_VERSION = 2
# Version 1 knew offset and scale of the columns only.
_READ_VERSIONS = (1, 2)
# What damaged archives and arrays raise, the wrong offsets and flags of their headers included.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    SyntaxError,
    EOFError,
    LookupError,
    ValueError,
    OSError,
    OverflowError,
    MemoryError,
    RuntimeError,  # NotImplementedError included
)
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MANIFEST = "manifest.json"


def write_file(model: FittedModel, file: IO[bytes]) -> None:
    """Write a model file; the same model gives the same bytes.

    Parameters
    ----------
    model : FittedModel
        The model.
    file : binary file
        Open for writing.
    """
    values, arrays = model.to_parts()
    manifest = {"format": FORMAT, "version": FORMAT_VERSION, "model": values}
    with zipfile.ZipFile(file, "w") as archive:
        text = json.dumps(manifest, indent=1, sort_keys=True)
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), text)
        for name, array in arrays.items():
            plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
            member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, plain, allow_pickle=False)


def read_file(file: IO[bytes], name: str, *, most_bytes: int | None = None) -> dict[str, Any]:
    """Fields of the `FittedModel` that a file holds.

    Parameters
    ----------
    file : binary file
        Open for reading, with random access.
    name : str
        What messages call it.
    most_bytes : int, optional
        Largest size of its unpacked members together; default no limit.

    Raises
    ------
    ModelDamaged
        MODEL_CORRUPT: it is no model file, or a part is missing; MODEL_VERSION_UNSUPPORTED: it is
        of another format version.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _check_size(archive, most_bytes)
            manifest = json.loads(archive.read(_MANIFEST))
            _check_format(manifest, name)
            arrays = _read_arrays(archive)
            values = manifest["model"]
            if manifest["version"] == 1:
                arrays |= _affine_arrays(arrays)
    except ModelDamaged:
        raise
    except _UNREADABLE as error:
        raise ModelDamaged(f"{name} is not a readable svddtune model: {error}") from None
    try:
        return fields_of_parts(values, arrays)
    except (KeyError, TypeError, ValueError, OverflowError, IndexError) as error:
        raise ModelDamaged(f"The model lacks a part: {error}") from None


def _check_size(archive: zipfile.ZipFile, most_bytes: int | None) -> None:
    """Raise ModelDamaged for members that are much larger unpacked than the file is."""
    unpacked = sum(member.file_size for member in archive.infolist())
    if most_bytes is not None and unpacked > most_bytes:
        raise ModelDamaged(f"The model has {unpacked} bytes unpacked, above {most_bytes}")


def _check_format(manifest: Any, name: str) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelDamaged(f"{name} is a ZIP file, but not an svddtune model")
    if manifest.get("version") not in _READ_VERSIONS:
        raise ModelDamaged(
            f"{name} has format version {manifest.get('version')!r}; this release reads "
            f"{' and '.join(map(str, _READ_VERSIONS))}. Export the model again, or update svddtune",
            reason="MODEL_VERSION_UNSUPPORTED",
        )


def _read_arrays(archive: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
    arrays = {}
    for member in archive.infolist():
        if member.filename.endswith(".npy"):
            with archive.open(member) as stream:
                arrays[member.filename.removesuffix(".npy")] = _read_array(stream, member)
    return arrays


def _read_array(stream: IO[bytes], member: zipfile.ZipInfo) -> NDArray[Any]:
    """One array. Its size is checked before memory is taken for it."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"{member.filename} has NPY version {version}")
    if dtype.kind not in "fiuU":
        raise ValueError(f"{member.filename} has elements of type {dtype}")
    data = stream.read()
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{member.filename} has {len(data)} bytes for the shape {shape}")
    array = np.frombuffer(data, dtype=dtype) if data else np.empty(0, dtype=dtype)
    return array.reshape(shape, order="F" if fortran else "C")


def _affine_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The parts of a representation from a file of version 1; "none" has no offset and scale."""
    columns = arrays["check_rows"].shape[1]
    nothing = np.empty(0)
    return {
        "offset": arrays["offset"] if arrays["offset"].size else np.zeros(columns),
        "scale": arrays["scale"] if arrays["scale"].size else np.ones(columns),
        "knot_counts": np.zeros(columns, dtype=np.int32),
        "knots": nothing,
        "values": nothing,
    }
