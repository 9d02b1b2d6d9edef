"""Everything that Redis stores of one session, read in one transaction."""

import json
from dataclasses import dataclass
from typing import Any

from svddtune.state import keys
from svddtune.state.connect import Redis
from svddtune.state.session import SessionId

# (kind, row, verdict, labeler, query, answer id, whether it decides)
LogEntry = tuple[str, int, int, str, int, str, bool]


@dataclass(frozen=True)
class Stored:
    """The stored state of one session at one time."""

    fields: dict[str, str]
    labels: dict[int, int]
    # Row -> [[labeler, verdict, query], ...]
    votes: dict[int, list[list[Any]]]
    queries: dict[int, dict[str, Any]]
    asked: dict[int, int]
    open: list[int]
    awaiting: set[int]
    dropped: set[int]
    withdrawn: set[str]
    # Rows of control items, in the order in which labelers get them.
    controls: list[int]
    # All lease ids; lease ids by holder.
    leases: set[str]
    held: dict[str, list[str]]
    # Waiting holder -> largest number of leases.
    waiting: dict[str, int]
    ranked: list[int]
    log: list[LogEntry]
    # (row, query) of each query created, by a ranking or by reopening its row, oldest first.
    asked_events: list[tuple[int, int]]
    # Answer id -> fingerprint and receipt.
    receipts: dict[str, Any]
    # SUGGEST jobs of the session that are queued or running.
    suggest_jobs: int
    # Latest notices on the session: id, named holders, and whether its state changed.
    notices: list[tuple[str, set[str], bool]]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Inlier, outlier, unsure."""
        inlier, outlier, unsure = (int(self.fields[one]) for one in ("inlier", "outlier", "unsure"))
        return inlier, outlier, unsure

    def leases_of_queries(self) -> dict[str, tuple[int, str, str]]:
        """Lease id -> query, holder, labeler, in the order of queries and of leasing."""
        return {
            lease_id: (n, query["leases"][lease_id]["holder"], query["leases"][lease_id]["labeler"])
            for n, query in sorted(self.queries.items())
            for lease_id, *_ in query["issued"]
            if lease_id in query["leases"]
        }


def _text(stored: dict[bytes, bytes]) -> dict[str, str]:
    # Records and payloads of jobs are protobuf bytes, which no check reads.
    return {key.decode(): value.decode(errors="replace") for key, value in stored.items()}


def read(client: Redis, session_id: SessionId, *, notices_after: str) -> Stored:
    """Read the session, and the notices on it after the given one."""
    prefix = keys.prefix(keys.partition_of_session(session_id))

    def key(part: str = "") -> str:
        return keys.session(session_id, part)

    pipe = client.pipeline(transaction=True)
    for part in ("", "labels", "votes", "queries", "asked", "held", "answers"):
        pipe.hgetall(key(part))
    pipe.lrange(key("open"), 0, -1)
    for part in ("awaiting", "dropped", "withdrawn"):
        pipe.smembers(key(part))
    pipe.zrange(key("leases"), 0, -1)
    pipe.zrange(key("waiting"), 0, -1)
    pipe.hgetall(key("waiters"))
    pipe.lrange(key("ranked"), 0, -1)
    pipe.lrange(key("controls"), 0, -1)
    pipe.xrange(key("events"))
    pipe.xrange(f"{prefix}q:hi")
    pipe.lrange(f"{prefix}q:hi:todo:{session_id}", 0, -1)
    pipe.xrange(f"{prefix}notices", min=f"({notices_after}" if notices_after else "-")
    (fields, labels, votes, queries, asked, held, answers, open_, awaiting, dropped, withdrawn,
     leases, waiting, waiters, ranked, controls, events, jobs, todo,
     notices) = pipe.execute()  # fmt: skip
    label_events = [event for _, event in events if b"verdict" in event]
    return Stored(
        fields=_text(fields),
        labels={int(row): int(text.split()[0]) for row, text in labels.items()},
        votes={int(row): json.loads(text) for row, text in votes.items()},
        queries={int(n): json.loads(text) for n, text in queries.items()},
        asked={int(row): int(n) for row, n in asked.items()},
        open=[int(n) for n in open_],
        awaiting=set(map(int, awaiting)),
        dropped=set(map(int, dropped)),
        withdrawn={name.decode() for name in withdrawn},
        controls=[int(row) for row in controls],
        leases={one.decode() for one in leases},
        held={holder.decode(): json.loads(ids) for holder, ids in held.items()},
        waiting={holder.decode(): json.loads(waiters[holder])["most"] for holder in waiting},
        ranked=[json.loads(item)[0] for item in ranked],
        log=[_entry(event) for event in label_events],
        asked_events=list(
            dict.fromkeys(
                (int(event[b"row"]), int(event[b"query"]))
                for _, event in events
                if event[b"kind"] in (b"ASKED", b"REOPENED")
            )
        ),
        receipts={one: json.loads(text) for one, text in _text(answers).items()},
        suggest_jobs=sum(b"SUGGEST" in job for job in todo)
        + sum(
            job[b"kind"] == b"SUGGEST" and job[b"session"].decode() == session_id for _, job in jobs
        ),
        notices=[
            (entry.decode(), set(notice[b"holders"].decode().split()), notice[b"moved"] == b"1")
            for entry, notice in notices
            if notice[b"session"].decode() == session_id
        ],
    )


def _entry(event: dict[bytes, bytes]) -> LogEntry:
    return (
        "CHECKED" if b"control" in event else event[b"kind"].decode(),
        int(event[b"row"]),
        int(event[b"verdict"]),
        event[b"labeler"].decode(),
        int(event[b"query"]),
        event[b"answer_id"].decode(),
        b"decides" in event,
    )
