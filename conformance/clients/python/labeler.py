"""The Python client's program for the conformance suite; conformance/README.md says what it does.

::

    python labeler.py label ADDRESS SESSION LABELER CREDIT
    python labeler.py vectors FILE
"""

import asyncio
import base64
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from google.rpc import code_pb2, status_pb2

from svddtune.client import AsyncTuningClient, Query, SkipMode, SvddtuneError
from svddtune.client.aio import AsyncTuning
from svddtune.client.model import SvddModel
from svddtune.client.wire.convert import matrix_to_proto
from svddtune.client.wire.status import from_status


def tell(event: str, **values: object) -> None:
    """Print one event."""
    print(json.dumps({"event": event, **values}), flush=True)


async def decide(tuning: AsyncTuning, query: Query) -> None:
    """Decide one query by the rule of the suite."""
    score, *wait_s = query.features
    if wait_s:
        thinking = asyncio.create_task(asyncio.sleep(wait_s[0]))
        losing = asyncio.create_task(tuning.until_gone(query))
        done, others = await asyncio.wait({thinking, losing}, return_when=asyncio.FIRST_COMPLETED)
        for task in others:
            task.cancel()
        if losing in done:
            return
    if score < -1:
        tuning.release(query)
        return
    try:
        if score < 0:
            ack = await tuning.skip(query, SkipMode.OTHERS)
        else:
            ack = await tuning.answer(query, "outlier" if score > 0.5 else "inlier")
    except SvddtuneError as error:
        tell("rejected", query=query.number, reason=error.reason)
    else:
        tell("acked", query=query.number, applied=ack.applied)


async def label(address: str, session: str, labeler: str, credit: int) -> None:
    """Label a session until it has finished."""
    # (The client itself reads the other variables of README.md.)
    tls_ca = os.environ.get("SVDDTUNE_TLS_CA")
    try:
        async with (
            AsyncTuningClient(address, tls_ca=tls_ca) as client,
            client.tuning(session, labeler=labeler, credit=credit) as tuning,
        ):
            async with asyncio.TaskGroup() as deciding:
                async for query in tuning.queries():
                    deciding.create_task(decide(tuning, query))
            tell("finished", reason=f"FINISH_REASON_{tuning.finished}")
    except* SvddtuneError as group:
        (error,) = group.exceptions
        assert isinstance(error, SvddtuneError)
        tell("error", reason=error.reason)


def decode(vector: dict[str, Any], folder: Path) -> dict[str, object] | None:
    """Return what the client makes of one vector, None for a kind that is not known."""
    match vector["kind"]:
        case "matrix":
            matrix = matrix_to_proto(np.array(vector["rows"], dtype=np.float64))
            return {"matrix": base64.b64encode(matrix.values).decode()}
        case "status":
            status = status_pb2.Status.FromString(base64.b64decode(vector["details_bin"]))
            error = from_status(status)
            return {
                "code": code_pb2.Code.Name(status.code),
                "reason": error.reason,
                "message": error.message,
                "metadata": error.metadata,
                "retry_after_seconds": error.retry_after_s,
            }
        case "model":
            model = SvddModel.load(folder / vector["model_file"])
            rows = np.array(vector["rows"], dtype=np.float64)
            return {
                "distances2": model.distance2(rows).tolist(),
                "outliers": (model.predict(rows) == -1).tolist(),
            }
    return None


def decoded(file: Path) -> Iterator[dict[str, object]]:
    """Yield what the client makes of each vector of a file."""
    for vector in json.loads(file.read_text())["vectors"]:
        values = decode(vector, file.parent)
        if values is not None:
            shown = {key: value for key, value in values.items() if value not in (None, {}, [])}
            yield {"name": vector["name"], **shown}


def main() -> None:
    """Run the command that the arguments name."""
    match sys.argv[1:]:
        case ["label", address, session, labeler, credit]:
            asyncio.run(label(address, session, labeler, int(credit)))
        case ["vectors", file]:
            for values in decoded(Path(file)):
                print(json.dumps(values))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
