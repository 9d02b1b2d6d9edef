"""Time a session over the real service: from an Answer to the next Assign, by part.

    python benchmarks/bench_session.py [--data DIR] [--workers 2] [--sessions 5] [--strategy lama]

Embedded server (append-only file, fsync always), one service, loopback. Medians. Without DIR, or
where it has no SpamBase.npz, generated data of the same shape (2000 x 57) serve.
"""

import argparse
import queue
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import numpy as np
from bench_numerics import load
from threadpoolctl import threadpool_limits

from svddtune import numerics
from svddtune.client import EmbeddedStack, TuningClient
from svddtune.v1 import oracle_pb2, oracle_pb2_grpc

TARGET_MS = 15.0
BUDGET = 50


class Stream:
    """A bare Converse stream: what is measured is the service, not the client library."""

    def __init__(self, address: str, session: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self._requests: queue.SimpleQueue[oracle_pb2.ConverseRequest | None] = queue.SimpleQueue()
        stub = oracle_pb2_grpc.OracleServiceStub(self._channel)
        self.replies = stub.Converse(self._outgoing())
        hello = oracle_pb2.Hello(
            min_protocol_version=1, labeler="bench", sessions=[session], credit=1
        )
        self.send(oracle_pb2.ConverseRequest(hello=hello))

    def _outgoing(self) -> Iterator[oracle_pb2.ConverseRequest]:
        while (request := self._requests.get()) is not None:
            yield request

    def send(self, request: oracle_pb2.ConverseRequest) -> None:
        self._requests.put(request)

    def wait_for(self, kind: str) -> oracle_pb2.ConverseResponse:
        for reply in self.replies:
            if reply.WhichOneof("message") in (kind, "finished"):
                return reply
        raise RuntimeError("the stream ended")

    def close(self) -> None:
        self._requests.put(None)
        self._channel.close()


def run_session(
    client: TuningClient,
    address: str,
    dataset: object,
    y: numerics.LabelArray,
    seed: int,
    strategy: str,
) -> dict[str, list[float]]:
    initial = {str(row): int(y[row]) for row in numerics.draw_initial(y, 2, 2, seed)}
    session = client.create_session(
        dataset,  # type: ignore[arg-type]
        initial_labels=initial,
        budget=BUDGET,
        seed=seed,
        strategy=strategy,
    )
    times: dict[str, list[float]] = {"stream message": [], "answer to ack": [], "next query": []}
    stream = Stream(address, session.name)
    assign = stream.wait_for("assign")
    while assign.WhichOneof("message") == "assign":
        # Refused before anything is looked up: the cost of a message there and back.
        begin = time.perf_counter()
        stream.send(oracle_pb2.ConverseRequest(answer=oracle_pb2.Answer(answer_id="x")))
        stream.wait_for("reject")
        times["stream message"].append(time.perf_counter() - begin)
        answer = oracle_pb2.Answer(
            answer_id=f"a{assign.assign.query}",
            query=assign.assign.query,
            lease_id=assign.assign.lease_id,
            verdict=1 if y[assign.assign.row] == 1 else 2,  # type: ignore[arg-type]
        )
        begin = time.perf_counter()
        stream.send(oracle_pb2.ConverseRequest(answer=answer))
        stream.wait_for("ack")
        times["answer to ack"].append(time.perf_counter() - begin)
        assign = stream.wait_for("assign")
        if assign.WhichOneof("message") == "assign":
            times["next query"].append(time.perf_counter() - begin)
    stream.close()
    client.wait_until_completed(session)
    return times


def computation(X: numerics.FloatArray, y: numerics.LabelArray, strategy: str) -> list[float]:
    prep = numerics.prepare(X, k=8)
    lattice = {}
    if strategy in numerics.ATLAS_STRATEGIES:
        lattice = {
            "atlas": numerics.fit_atlas(X, numerics.default_gamma_bounds(X)),
            "basis": numerics.belief_basis(X),
        }
    labels = np.zeros(len(y), dtype=np.int8)
    rows = np.random.default_rng(0).choice(len(y), 27, replace=False)
    labels[rows] = y[rows]
    times = []
    for repeat in range(60):
        begin = time.perf_counter()
        numerics.suggest(
            prep,
            X,
            labels,
            k=5,
            strategy=strategy,  # type: ignore[arg-type]
            sample=100,
            rng=np.random.default_rng(repeat),
            **lattice,  # type: ignore[arg-type]
        )
        times.append(time.perf_counter() - begin)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sessions", type=int, default=5)
    parser.add_argument("--strategy", choices=numerics.STRATEGIES, default="lama")
    arguments = parser.parse_args()
    name, X, y = load(arguments.data, "SpamBase")
    times: dict[str, list[float]] = {}
    with (
        EmbeddedStack(workers=arguments.workers) as stack,
        TuningClient(stack.address) as client,
    ):
        dataset = client.upload_dataset(X)
        for seed in range(arguments.sessions):
            for part, values in run_session(
                client, stack.address, dataset, y, seed, arguments.strategy
            ).items():
                times.setdefault(part, []).extend(values)
    with threadpool_limits(1):  # as in a worker
        times["computation alone"] = computation(X, y, arguments.strategy)
    print(
        f"{arguments.strategy} on {name}, {arguments.workers} workers, "
        f"{arguments.sessions} sessions of {BUDGET} labels"
    )
    for part, values in times.items():
        p50, p95 = 1e3 * np.quantile(values, [0.5, 0.95])
        print(f"  {part:18} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms")
    p50 = 1e3 * float(np.median(times["next query"]))
    print(f"  target {TARGET_MS:.0f} ms: {'ok' if p50 <= TARGET_MS else 'MISSED'}")


if __name__ == "__main__":
    main()
