"""A labeler as a program: ``python -m tests.chaos.labeler ADDRESS NAME``.

Each line of its input is a task as JSON: the session, the verdicts by row, and the rows to take
back once. Each line of its output says what it did, as JSON.
"""

import json
import sys
import uuid
from typing import Any

from svddtune.client import SvddtuneError, Tuning, TuningClient


def tell(**what: Any) -> None:
    """Say what was done."""
    print(json.dumps(what), flush=True)


def give(tuning: Tuning, act: str, row: int, observation_id: str, **how: Any) -> bool:
    """Do one act under an id of its own; whether it was acknowledged as counting."""
    answer_id = uuid.uuid4().hex
    tell(sent=answer_id, act=act, row=row, verdict=how["verdict"])
    try:
        if act == "retracted":
            ack = tuning.retract(observation_id, answer_id=answer_id)
        else:
            ack = tuning.answer(how["query"], how["verdict"], answer_id=answer_id)
    except SvddtuneError as error:
        if error.reason not in ("LEASE_LOST", "ALREADY_ANSWERED", "SESSION_NOT_ACTIVE"):
            raise
        tell(refused=answer_id, reason=error.reason)
        return False
    tell(acked=answer_id, event_id=ack.event_id, applied=ack.applied, total=ack.counts.total)
    return ack.applied and ack.counts.total < how.get("before", 0)


def label(client: TuningClient, name: str, task: dict[str, Any]) -> None:
    """Answer all queries of a session."""
    verdicts, take_back, before = task["verdicts"], set(task["take_back"]), task["before"]
    with client.tuning(task["session"], labeler=name, credit=task["credit"]) as tuning:
        for query in tuning.queries():
            row = query.row
            # Early labels alone: the session must not end before.
            early = give(
                tuning,
                "labeled",
                row,
                query.observation_id,
                query=query,
                verdict=verdicts[row],
                before=before,
            )
            if early and row in take_back:
                take_back.discard(row)
                give(tuning, "retracted", row, query.observation_id, verdict=verdicts[row])


def main() -> None:
    address, name = sys.argv[1:]
    with TuningClient(address) as client:
        tell(ready=name)
        for line in sys.stdin:
            task = json.loads(line)
            try:
                label(client, name, task)
            except SvddtuneError as error:
                tell(ended=task["session"], reason=error.reason, message=str(error))
            else:
                tell(ended=task["session"], reason="")


if __name__ == "__main__":
    main()
