"""What a session keeps in Redis: bytes and keys at its last query, and once it has ended.

    python benchmarks/bench_retention.py [--rows 1000] [--labels 50] [--strategy mixed]

Embedded server, one service, two workers, generated data of 8 columns, one labeler on a stream.
Bytes are those of MEMORY USAGE over all elements. Result and model, which stay, count apart.
"""

import argparse
import tempfile
from pathlib import Path

from bench_scale import generated

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.stack import EmbeddedServer
from svddtune.state import keys
from svddtune.state.connect import Redis, connect
from svddtune.state.session import SessionId


def measured(client: Redis, session_id: SessionId) -> dict[str, int]:
    """Bytes of each key of a session, by what follows its name."""
    start = keys.session(session_id)
    pattern = start.replace("{", "\\{") + "*"
    return {
        key.decode().removeprefix(start) or ":": client.memory_usage(key, samples=0)
        for key in client.scan_iter(match=pattern, count=1000)
    }


def told(when: str, found: dict[str, int]) -> str:
    """One line of figures."""
    result = {part: size for part, size in found.items() if part.startswith((":result", ":model"))}
    rest = sum(found.values()) - sum(result.values())
    return (
        f"{when}: {len(found) - len(result)} keys of {rest / 1000:.1f} kB, and "
        f"{len(result)} of result and model of {sum(result.values()) / 1000:.1f} kB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--strategy", default="mixed")
    given = parser.parse_args()
    X, truth = generated(given.rows, 8)
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder)) as server,
        connect(server.url) as redis,
        EmbeddedStack(workers=2, redis=server.url) as stack,
        TuningClient(stack.address) as client,
    ):
        session = client.create_session(
            client.upload_dataset(X), budget=given.labels, strategy=given.strategy
        )
        session_id = SessionId(session.name.removeprefix("sessions/"))
        asking: dict[str, int] = {}
        with client.tuning(session) as tuning:
            while (query := tuning.next_query(timeout_s=600)) is not None:
                asking = measured(redis, session_id)
                tuning.answer(query, "outlier" if truth[query.row] == -1 else "inlier")
        client.wait_until_completed(session, timeout_s=600)
        ended = measured(redis, session_id)
    for part in sorted(asking | ended):
        print(f"{part:22} {asking.get(part, 0):8} {ended.get(part, 0):8}")
    print(told("asking", asking))
    print(told("ended", ended))


if __name__ == "__main__":
    main()
