"""Measure how many rows one service process judges, and how quickly it answers others meanwhile.

    python benchmarks/bench_scoring.py [--features 10] [--support-vectors 50] [--seconds 5]

One service process, embedded server, loopback. A model of generated data with a refined detector of
60 labels is uploaded. Each line is a way to send rows. "rows/s" is by the clock; "rows per
processor second" divides by the service's own processor time, so it does not count the client that
shares the machine. Meanwhile a second connection asks for the model's description, one call after
the other.
"""

import argparse
import io
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from bench_streams import Child, child

from svddtune import numerics
from svddtune.fitted import FittedModel, write_file
from svddtune.numerics import FloatArray, Views, fit_representation
from svddtune.numerics.refined import fit_refined, refined_basis
from svddtune.numerics.svdd import BOUNDARY_TOLERANCE
from svddtune.stack import EmbeddedServer
from svddtune.v1 import common_pb2, result_pb2, scoring_pb2, scoring_pb2_grpc

TRAINING_ROWS, LABELS = 2000, 60
ROWS = 5000
SVDD, REFINED = result_pb2.DETECTOR_SVDD, result_pb2.DETECTOR_REFINED


def model_of(rng: np.random.Generator, features: int, support_vectors: int) -> FittedModel:
    """A model of about so many support vectors, with a profile and a refined detector."""
    X = rng.normal(size=(TRAINING_ROWS, features))
    representation = fit_representation(X, "standard")
    Z = representation.apply(X)
    fitted = numerics.fit(Z, gamma=0.5 / features, C=1 / support_vectors)
    labels = np.zeros(TRAINING_ROWS, dtype=np.int8)
    labels[:LABELS] = np.where(X[:LABELS, 0] > 0.8, -1, 1)
    refined = fit_refined(refined_basis(Views(X)), X, labels)
    assert refined is not None
    return FittedModel(
        gamma=fitted.gamma,
        C=fitted.C,
        nu=fitted.nu,
        R2=fitted.R2,
        center_norm2=fitted.center_norm2,
        tolerance=BOUNDARY_TOLERANCE,
        representation=representation,
        support_vectors=fitted.support,
        alphas=fitted.alphas,
        feature_names=tuple(f"feature_{j}" for j in range(features)),
        check_rows=X[:8],
        check_distance2=fitted.distance2(Z[:8]),
        sklearn_nu=fitted.nu,
        observation_count=TRAINING_ROWS,
        profile=numerics.profile_of(fitted, Z, X),
        refined=refined,
        check_probability=refined.probability(X[:8]),
    )


def upload(stub: scoring_pb2_grpc.ScoringServiceStub, model: FittedModel) -> str:
    """Upload a model; its name."""
    file = io.BytesIO()
    write_file(model, file)
    content, request = file.getvalue(), scoring_pb2.UploadModelRequest
    parts = [content[at : at + 500_000] for at in range(0, len(content), 500_000)]
    header = request(header=scoring_pb2.ModelUploadHeader())
    return stub.UploadModel(iter([header, *(request(chunk=part) for part in parts)])).model.name


def matrix(rows: FloatArray) -> common_pb2.Matrix:
    return common_pb2.Matrix(rows=len(rows), columns=rows.shape[1], values=rows.tobytes())


class Asker:
    """Asks for a description again and again, and notes how long each reply takes."""

    def __init__(self, address: str, name: str) -> None:
        self._over = threading.Event()
        self.waits_s: list[float] = []
        self._thread = threading.Thread(target=self._run, args=(address, name))

    def __enter__(self) -> "Asker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self, address: str, name: str) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(address, options=options) as channel:
            stub = scoring_pb2_grpc.ScoringServiceStub(channel)
            while not self._over.wait(0.01):
                begun = time.perf_counter()
                stub.GetModel(scoring_pb2.GetModelRequest(name=name))
                self.waits_s.append(time.perf_counter() - begun)


def measured(
    process: Child, address: str, name: str, seconds: float, judge: Callable[[float], int]
) -> str:
    """Figures of one way to send rows, as cells of a table; ``judge`` returns how many it sent."""
    with Asker(address, name) as asker:
        used, begun = process.cpu_s(), time.perf_counter()
        rows = judge(begun + seconds)
        took, used = time.perf_counter() - begun, process.cpu_s() - used
    p50, p99 = np.percentile(np.array(asker.waits_s) * 1000, (50, 99))
    return f"{rows / took:,.0f} | {rows / used:,.0f} | {p50:.1f} ms | {p99:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--support-vectors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of each measurement")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    model = model_of(rng, options.features, options.support_vectors)
    X = rng.normal(size=(ROWS, options.features))
    by_name = [
        scoring_pb2.Row(by_name=dict(zip(model.feature_names, row, strict=True)))
        for row in X[:1000].tolist()
    ]
    print(f"{len(model.alphas)} support vectors, {options.features} features\n")
    print("| way | rows/s | rows per processor second | others' wait p50 | p99 |")
    print("|---|---|---|---|---|")
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder)) as redis,
        child("svddtune.service", "--redis", redis.url, "--listen", "127.0.0.1:0") as process,
        grpc.insecure_channel(process.ready["address"]) as channel,
    ):
        address = process.ready["address"]
        stub = scoring_pb2_grpc.ScoringServiceStub(channel)
        name = upload(stub, model)
        whole = scoring_pb2.ScoreStreamRequest(matrix=matrix(X))

        def stream(until: float, detector: result_pb2.Detector, reasons: int) -> int:
            def messages() -> Iterator[scoring_pb2.ScoreStreamRequest]:
                header = scoring_pb2.ScoreStreamHeader(
                    model=name, detector=detector, reason_count=reasons
                )
                yield scoring_pb2.ScoreStreamRequest(header=header)
                while time.perf_counter() < until:
                    yield whole

            return sum(len(one.scores) for one in stub.ScoreStream(messages()))

        def unary(until: float, **rows: Any) -> int:
            count, request = 0, scoring_pb2.ScoreRequest(model=name, detector=REFINED, **rows)
            while time.perf_counter() < until:
                count += len(stub.Score(request).scores)
            return count

        ways: dict[str, Callable[[float], int]] = {
            "stream, SVDD": lambda until: stream(until, SVDD, 0),
            "stream, SVDD, 3 reasons a row": lambda until: stream(until, SVDD, 3),
            "stream, refined detector": lambda until: stream(until, REFINED, 0),
            "calls of 1,000 rows, refined": lambda until: unary(until, matrix=matrix(X[:1000])),
            "calls of 1,000 rows by name, refined": lambda until: unary(until, rows=by_name),
            "calls of 1 row, refined": lambda until: unary(until, matrix=matrix(X[:1])),
        }
        for way, judge in ways.items():
            figures = measured(process, address, name, options.seconds, judge)
            print(f"| {way} | {figures} |", flush=True)
        print(f"\nmemory of the service: {process.memory_mib():.0f} MiB")


if __name__ == "__main__":
    main()
