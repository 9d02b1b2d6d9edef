"""Generate the vectors of the conformance suite.

::

    python tools/generate_vectors.py [FILE]

They hold matrices as bytes, one status for each reason, and what model files say about rows.
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from google.rpc import code_pb2, error_details_pb2, status_pb2

from svddtune.client.wire.convert import matrix_to_proto
from svddtune.service.reasons import REASONS
from svddtune.service.status import status_proto
from svddtune.state.errors import FieldViolation, InvalidFields, StateError

ROOT = Path(__file__).parent.parent
FILE = ROOT / "conformance" / "vectors" / "vectors.json"
MODELS = ROOT / "tests" / "golden" / "model"
Vector = dict[str, Any]

MATRICES: dict[str, tuple[str, list[list[float]]]] = {
    "matrix_1x1": ("One row of one column.", [[1.5]]),
    "matrix_2x3": ("Rows follow each other.", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    "matrix_3x2": ("The same values in another shape.", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    "matrix_edges": (
        "Signed zero, subnormal and large numbers keep all their bits.",
        [[-0.0, 5e-324, -1e100], [0.1, 1 / 3, 2.0**53 + 2]],
    ),
}


def matrices() -> list[Vector]:
    """Return the vectors of the upload's matrices."""
    return [
        {
            "name": name,
            "kind": "matrix",
            "summary": summary,
            "rows": rows,
            "expected": {
                "matrix": base64.b64encode(matrix_to_proto(np.array(rows)).values).decode()
            },
        }
        for name, (summary, rows) in MATRICES.items()
    ]


def statuses() -> list[Vector]:
    """Return a vector for each reason, as the service encodes it."""
    vectors = []
    for reason, known in sorted(REASONS.items()):
        metadata = {key: f"the {key}" for key in known.metadata if key != "field"}
        error: StateError
        if reason == "INVALID_FIELD":
            error = InvalidFields(
                [
                    FieldViolation("session.config.budget", "budget is 0.", reason),
                    FieldViolation("page_size", "page_size is -1. Größe ≥ 0.", reason),
                ],
                **metadata,
            )
        else:
            # Some kinds make their reason and message themselves.
            error = known.kind.__new__(known.kind)
            StateError.__init__(error, reason, f"An example of {reason}.", **metadata)
        vectors.append(status(f"status_{reason}", f"The status of {reason}.", status_proto(error)))
    plain = status_pb2.Status(code=code_pb2.RESOURCE_EXHAUSTED, message="A proxy says no.")
    vectors.append(status("status_without_details", "A status that is not the service's.", plain))
    return vectors


def status(name: str, summary: str, encoded: status_pb2.Status) -> Vector:
    """Return the vector of one status."""
    expected: dict[str, Any] = {
        "code": code_pb2.Code.Name(encoded.code),
        "message": encoded.message,
    }
    for detail in encoded.details:
        info, fault, retry = (
            error_details_pb2.ErrorInfo(),
            error_details_pb2.BadRequest(),
            error_details_pb2.RetryInfo(),
        )
        if detail.Unpack(info):
            # Packed as the service does it, the metadata come in any order.
            detail.value = info.SerializeToString(deterministic=True)
            expected |= {"reason": info.reason, "metadata": dict(sorted(info.metadata.items()))}
        elif detail.Unpack(fault):
            expected["violations"] = [one.field for one in fault.field_violations]
        elif detail.Unpack(retry):
            delay = retry.retry_delay
            expected["retry_after_seconds"] = delay.seconds + delay.nanos / 1e9
    return {
        "name": name,
        "kind": "status",
        "summary": summary,
        "details_bin": base64.b64encode(encoded.SerializeToString(deterministic=True)).decode(),
        "expected": expected,
    }


def models() -> list[Vector]:
    """Return a vector for each model file."""
    vectors = []
    for file in sorted(MODELS.glob("*.json")):
        told = json.loads(file.read_text())
        vectors.append(
            {
                "name": f"model_{file.stem}",
                "kind": "model",
                "summary": f"The model file {file.stem}.npz judges rows.",
                "needs": ["model"],
                "model_file": f"../../tests/golden/model/{file.stem}.npz",
                "rows": told["rows"],
                "expected": {
                    "distances2": told["distance2"],
                    "outliers": [verdict == -1 for verdict in told["svdd"]],
                },
            }
        )
    return vectors


def main() -> None:
    """Write the vectors, by default to where they are kept."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    lines = (json.dumps(one, ensure_ascii=False) for one in matrices() + statuses() + models())
    file.write_text('{"vectors": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
