"""Rows that the service judges have the figures of the Python client's model."""

import io
import itertools
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
import numpy as np
import pytest
from tests.client.models import fit, fit_refined_too, rows
from tests.e2e.processes import service
from tests.numerics.cases import blobs
from tests.service.harness import CALL_S, Harness, chunk, harness_at, header, refusal
from tests.service.support import error_info, reason_of, status_of
from tests.worker.scene import RealWorker

from svddtune.client import SvddModel, TuningClient
from svddtune.fitted import write_file
from svddtune.state import keys
from svddtune.state.connect import connect
from svddtune.state.session import ModelId
from svddtune.v1 import common_pb2, config_pb2, result_pb2, scoring_pb2, tuning_pb2

pytestmark = pytest.mark.integration

INLIER, OUTLIER = common_pb2.VERDICT_INLIER, common_pb2.VERDICT_OUTLIER
SVDD, REFINED = result_pb2.DETECTOR_SVDD, result_pb2.DETECTOR_REFINED
MODEL = fit_refined_too()
ROWS = np.vstack((rows(7, n=300), rows(8, n=20) * 3.0))


def matrix(X: Any) -> common_pb2.Matrix:
    array = np.ascontiguousarray(X, dtype="<f8")
    return common_pb2.Matrix(rows=len(array), columns=array.shape[1], values=array.tobytes())


def content_of(model: SvddModel) -> bytes:
    file = io.BytesIO()
    write_file(model, file)
    return file.getvalue()


def upload_requests(
    content: bytes, size: int = 100_000, **fields: Any
) -> list[scoring_pb2.UploadModelRequest]:
    request = scoring_pb2.UploadModelRequest
    return [
        request(header=scoring_pb2.ModelUploadHeader(**fields)),
        *(request(chunk=content[at : at + size]) for at in range(0, len(content), size)),
    ]


def upload(harness: Harness, model: SvddModel = MODEL, **fields: Any) -> scoring_pb2.Model:
    requests = upload_requests(content_of(model), **fields)
    return harness.scoring.UploadModel(iter(requests), timeout=CALL_S).model


def score(harness: Harness, model: str, X: Any = None, **fields: Any) -> scoring_pb2.ScoreResponse:
    if X is not None:
        fields["matrix"] = matrix(X)
    request = scoring_pb2.ScoreRequest(model=model, **fields)
    return harness.scoring.Score(request, timeout=CALL_S)


def stream(
    harness: Harness, model: str, messages: Any, **fields: Any
) -> Iterator[scoring_pb2.ScoreStreamResponse]:
    """The responses to messages, before which a header is put."""
    request = scoring_pb2.ScoreStreamRequest
    first = request(header=scoring_pb2.ScoreStreamHeader(model=model, **fields))
    called = harness.scoring.ScoreStream(itertools.chain([first], messages), timeout=CALL_S)
    return iter(called)


def assert_same(
    scores: Any, model: SvddModel, X: Any, *, refined: bool = False, reasons: int = 0
) -> None:
    """Compare scores with those of the client's model."""
    which: Any = "refined" if refined else "svdd"
    verdicts = [{1: INLIER, -1: OUTLIER}[one] for one in model.predict(X, which=which).tolist()]
    assert [one.verdict for one in scores] == verdicts
    np.testing.assert_allclose(
        [one.distance for one in scores], -model.decision(X), rtol=0, atol=1e-12
    )
    assert {one.HasField("probability") for one in scores} == {refined}
    assert {one.HasField("refined_score") for one in scores} == {refined}
    if refined:
        np.testing.assert_allclose(
            [one.probability for one in scores], model.probability(X), rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(
            [one.refined_score for one in scores],
            model.known_refined().score(model.rows(X)),
            rtol=0,
            atol=1e-12,
        )
    if reasons:
        for one, expected in zip(scores, model.unusual(X, reasons), strict=True):
            assert [
                (reason.column, reason.value, reason.typical, reason.deviation)
                for reason in one.reasons
            ] == [
                (reason.column, reason.value, reason.typical, reason.deviation)
                for reason in expected
            ]
            if model.feature_names:
                assert [reason.name for reason in one.reasons] == [
                    reason.name for reason in expected
                ]
    else:
        assert not any(one.reasons for one in scores)


# Figures


@pytest.mark.parametrize("reasons", [0, 2])
@pytest.mark.parametrize("detector", [0, SVDD, REFINED])
def test_rows_have_the_figures_of_the_clients_model(
    harness: Harness, detector: result_pb2.Detector, reasons: int
) -> None:
    name = upload(harness).name
    response = score(harness, name, ROWS, detector=detector, reason_count=reasons)
    assert response.model == name
    assert {one.verdict for one in response.scores} == {INLIER, OUTLIER}
    assert_same(response.scores, MODEL, ROWS, refined=detector == REFINED, reasons=reasons)


@pytest.mark.parametrize("scaling", ["none", "standard", "normal", "whitened", "asinh"])
def test_rows_are_represented_as_the_model_says(harness: Harness, scaling: str) -> None:
    model = fit(scaling=scaling)
    assert_same(score(harness, upload(harness, model).name, ROWS).scores, model, ROWS)


@pytest.fixture
def tuned(harness: Harness) -> tuning_pb2.Session:
    """A completed session, with a model that a real worker computed."""
    X, truth = blobs(120, 4, seed=0)
    labelled = [*np.flatnonzero(truth == -1)[:4].tolist(), *np.flatnonzero(truth == 1)[:8].tolist()]
    dataset = harness.upload(
        header(observation_count=120, feature_count=4, feature_names=list("abcd")), chunk(X)
    )
    created = harness.create(
        dataset.name,
        config=config_pb2.SessionConfig(budget=40),
        initial_labels=[
            tuning_pb2.InitialLabel(
                observation_id=str(row), verdict=OUTLIER if truth[row] == -1 else INLIER
            )
            for row in labelled
        ],
    )
    worker = RealWorker(harness.redis_url)
    worker.work_off()
    harness.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=created.name))
    worker.work_off()
    worker.close()
    return harness.get(created.name)


def test_model_of_a_session_judges_until_the_session_is_deleted(
    harness: Harness, service_process: Any, tuned: tuning_pb2.Session
) -> None:
    with TuningClient(service_process.ready["address"]) as client:
        model = client.model(tuned.name)
    X = blobs(50, 4, seed=9)[0]
    assert model.refined is not None
    for name in (tuned.latest_result, f"{tuned.name}/results/-"):
        response = score(harness, name, X, detector=REFINED, reason_count=4)
        assert response.model == tuned.latest_result
        assert_same(response.scores, model, X, refined=True, reasons=4)
    described = harness.scoring.GetModel(scoring_pb2.GetModelRequest(name=tuned.latest_result))
    assert described.model.name == tuned.latest_result
    assert list(described.model.feature_names) == list("abcd")
    assert (described.model.has_refined, described.model.has_profile) == (True, True)
    assert not described.model.HasField("expire_time")
    check_rows_of_the_dataset(harness, model, tuned)
    file = b"".join(
        one.chunk
        for one in harness.scoring.DownloadModel(
            scoring_pb2.DownloadModelRequest(name=f"{tuned.name}/results/-"), timeout=CALL_S
        )
    )
    assert file == content_of(model)
    later = f"{tuned.name}/results/2"
    assert reason_of(refusal(lambda: score(harness, later, X))) == "RESULT_NOT_FOUND"
    with_stream = stream(harness, tuned.latest_result, endless(X, messages := threading.Event()))
    first = next(with_stream)
    harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=tuned.name))
    assert reason_of(refusal(lambda: score(harness, tuned.latest_result, X))) == "SESSION_NOT_FOUND"
    # What began goes on.
    second = next(with_stream)
    messages.set()
    assert (first.first_row, second.first_row) == (0, 50)
    assert_same(second.scores, model, X)


def check_rows_of_the_dataset(
    harness: Harness, model: SvddModel, tuned: tuning_pb2.Session
) -> None:
    X, name = blobs(120, 4, seed=0)[0], tuned.latest_result
    # (They begin, end and leave out rows, and one comes twice.)
    for listed in (list(range(len(X))), [7, 8, 9, 3, len(X) - 1, 7]):
        response = score(harness, name, dataset_rows=listed, detector=REFINED, reason_count=2)
        assert_same(response.scores, model, X[listed], refined=True, reasons=2)
    for fields, reason in (
        ({"dataset_rows": [0, len(X)]}, "ROW_OUT_OF_RANGE"),
        ({"dataset_rows": [0], "X": X}, "INVALID_FIELD"),
        ({"dataset_rows": [0], "feature_names": list("abcd")}, "INVALID_FIELD"),
        ({"dataset_rows": [0] * 10_001}, "INVALID_FIELD"),
    ):
        error = refusal(partial(score, harness, name, **fields))
        assert reason_of(error) == reason


def test_uploaded_model_has_no_rows_and_gives_its_file_back(harness: Harness) -> None:
    name = upload(harness).name
    assert reason_of(refusal(lambda: score(harness, name, dataset_rows=[0]))) == "INVALID_FIELD"
    request = scoring_pb2.DownloadModelRequest(name=name)
    parts = [one.chunk for one in harness.scoring.DownloadModel(request, timeout=CALL_S)]
    assert b"".join(parts) == content_of(MODEL)


def endless(X: Any, over: threading.Event) -> Iterator[scoring_pb2.ScoreStreamRequest]:
    """The same rows again and again, until an event is set."""
    message = scoring_pb2.ScoreStreamRequest(matrix=matrix(X))
    while not over.is_set():
        yield message


def test_session_without_a_result_has_no_model(harness: Harness) -> None:
    name = harness.session().name
    for result in ("-", "1"):
        call = lambda result=result: score(harness, f"{name}/results/{result}", ROWS)  # noqa: E731
        assert reason_of(refusal(call)) == "RESULT_NOT_FOUND"


def test_stored_model_without_its_parts_is_damaged(harness: Harness) -> None:
    # The scripted worker stores no support vectors.
    error = refusal(lambda: score(harness, f"{harness.completed().name}/results/-", ROWS))
    assert (error.code(), reason_of(error)) == (grpc.StatusCode.DATA_LOSS, "MODEL_DAMAGED")


# Rows and names


def test_columns_are_matched_by_name_in_any_order(harness: Harness) -> None:
    name = upload(harness).name
    turned = ROWS[:, [2, 0, 1]]
    names = ["f2", "f0", "f1"]
    by_matrix = score(harness, name, turned, feature_names=names)
    assert_same(by_matrix.scores, MODEL, ROWS)
    as_rows = [scoring_pb2.Row(values=row) for row in turned.tolist()]
    assert score(harness, name, rows=as_rows, feature_names=names).scores == by_matrix.scores
    by_name = [scoring_pb2.Row(by_name=dict(zip(names, row, strict=True))) for row in turned]
    assert score(harness, name, rows=by_name).scores == by_matrix.scores
    plain = [scoring_pb2.Row(values=row) for row in ROWS.tolist()]
    assert score(harness, name, rows=plain).scores == by_matrix.scores


def test_model_of_one_column_takes_rows_by_name(harness: Harness) -> None:
    model = fit(m=1)
    row = scoring_pb2.Row(by_name={"f0": 5.5})
    response = score(harness, upload(harness, model).name, rows=[row])
    assert_same(response.scores, model, [[5.5]])


def spoiled(row: int, column: int, value: float) -> Any:
    X = ROWS.copy()
    X[row, column] = value
    return X


@dataclass(frozen=True)
class Fault:
    """A request that is refused: its fields, the reason, and some of the metadata."""

    reason: str
    metadata: dict[str, str]
    X: Any = None
    fields: Any = None
    model: SvddModel = MODEL


Row = scoring_pb2.Row
NAMED = {"f0": 1.0, "f1": 2.0, "f2": 3.0}
FAULTS = {
    "NaN": Fault(
        "DATASET_NOT_FINITE", {"row": "17", "column": "1", "feature": "f1"}, spoiled(17, 1, np.nan)
    ),
    "infinity": Fault("DATASET_NOT_FINITE", {"row": "3", "value": "-inf"}, spoiled(3, 0, -np.inf)),
    "huge": Fault("DATASET_OUT_OF_RANGE", {"row": "0", "column": "2"}, spoiled(0, 2, 1e101)),
    "matrix with a column too few": Fault(
        "FEATURE_COUNT_MISMATCH", {"columns": "2", "expected": "3"}, ROWS[:, :2]
    ),
    "row with a value too many": Fault(
        "FEATURE_COUNT_MISMATCH",
        {"row": "1", "columns": "4", "expected": "3"},
        fields={"rows": [Row(values=[1, 2, 3]), Row(values=[1, 2, 3, 4])]},
    ),
    "empty row": Fault("FEATURE_COUNT_MISMATCH", {"row": "0"}, fields={"rows": [Row()]}),
    "matrix without all of its bytes": Fault(
        "DATASET_RAGGED",
        {"row": "1", "size": "40", "expected": "48"},
        fields={"matrix": common_pb2.Matrix(rows=2, columns=3, values=bytes(40))},
    ),
    "matrix with more bytes": Fault(
        "DATASET_RAGGED",
        {"row": "1"},
        fields={"matrix": common_pb2.Matrix(rows=2, columns=3, values=bytes(400))},
    ),
    "name that the model lacks": Fault(
        "FEATURE_NAMES_MISMATCH",
        {"missing": "'f2'", "unexpected": "'g'"},
        ROWS,
        {"feature_names": ["f0", "f1", "g"]},
    ),
    "name given twice": Fault(
        "DUPLICATE_FEATURE_NAME",
        {"value": "f1"},
        ROWS,
        {"feature_names": ["f0", "f1", "f1", "f2"]},
    ),
    "names for a model without": Fault(
        "FEATURE_NAMES_MISMATCH",
        {},
        ROWS,
        {"feature_names": ["a", "b", "c"]},
        fit(feature_names=()),
    ),
    "row by name without a name": Fault(
        "FEATURE_NAMES_MISMATCH",
        {"row": "1", "missing": "'f1'"},
        fields={"rows": [Row(by_name=NAMED), Row(by_name={"f0": 1.0, "f2": 3.0})]},
    ),
    "row by name with a further name": Fault(
        "FEATURE_NAMES_MISMATCH",
        {"row": "0", "unexpected": "'g'"},
        fields={"rows": [Row(by_name=NAMED | {"g": 1.0})]},
    ),
    "row by name for a model without names": Fault(
        "FEATURE_NAMES_MISMATCH",
        {"row": "0"},
        fields={"rows": [Row(by_name=NAMED)]},
        model=fit(feature_names=()),
    ),
    "row in both ways": Fault(
        "INVALID_FIELD",
        {"field": "rows[0].values"},
        fields={"rows": [Row(by_name=NAMED, values=[1, 2, 3])]},
    ),
    "rows in both ways": Fault(
        "INVALID_FIELD", {"field": "rows"}, ROWS, {"rows": [Row(values=[1, 2, 3])]}
    ),
    "no rows": Fault("INVALID_FIELD", {"field": "rows"}),
    "too many rows": Fault(
        "INVALID_FIELD", {"field": "matrix.rows", "value": "10001"}, np.zeros((10_001, 3))
    ),
    "too many rows one by one": Fault(
        "INVALID_FIELD", {"field": "len(rows)"}, fields={"rows": [Row(values=[1, 2, 3])] * 10_001}
    ),
    "unknown detector": Fault("INVALID_FIELD", {"field": "detector"}, ROWS, {"detector": 7}),
    "too many reasons": Fault(
        "INVALID_FIELD", {"field": "reason_count"}, ROWS, {"reason_count": 101}
    ),
    "refined detector of a model without": Fault(
        "REFINED_MISSING", {}, ROWS, {"detector": REFINED}, fit()
    ),
    "reasons of a model without a profile": Fault(
        "PROFILE_MISSING", {}, ROWS, {"reason_count": 1}, fit(profile=None)
    ),
    "response that may be too large": Fault(
        "SCORES_TOO_LARGE",
        {"rows": "10000"},
        np.zeros((10_000, 3)),
        {"reason_count": 3},
        fit(feature_names=tuple(f"{j}{'x' * 200}" for j in range(3))),
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_request_at_fault_is_refused_with_its_place(harness: Harness, fault: Fault) -> None:
    name = upload(harness, fault.model).name
    error = refusal(lambda: score(harness, name, fault.X, **(fault.fields or {})))
    assert (error.code(), reason_of(error)) == (grpc.StatusCode.INVALID_ARGUMENT, fault.reason)
    assert fault.metadata.items() <= dict(error_info(status_of(error)).metadata).items()


# Streams


def test_stream_judges_all_rows_in_order(harness: Harness) -> None:
    X = np.vstack([rows(seed, n=10_000) for seed in range(3)])
    cuts = [0, 10_000, 20_000, 20_001, 20_001, 29_999, 30_000]
    messages = [
        scoring_pb2.ScoreStreamRequest(matrix=matrix(X[low:high]))
        if high > low
        else scoring_pb2.ScoreStreamRequest()
        for low, high in itertools.pairwise(cuts)
    ]
    name = upload(harness).name
    scores: list[scoring_pb2.RowScore] = []
    for response in stream(harness, name, messages, reason_count=1):
        assert (response.model, response.first_row) == (name, len(scores))
        assert response.scores
        scores += response.scores
    assert_same(scores, MODEL, X, reasons=1)


def test_stream_is_not_read_ahead_of_a_client_that_does_not_read(harness: Harness) -> None:
    """The client has far more rows than buffers hold."""
    taken, total = 0, 120
    message = scoring_pb2.ScoreStreamRequest(matrix=matrix(rows(n=10_000)))

    def messages() -> Iterator[scoring_pb2.ScoreStreamRequest]:
        nonlocal taken
        for taken in range(1, total + 1):  # noqa: B007
            yield message

    name = upload(harness).name
    responses = stream(harness, name, messages())
    next(responses)
    # Others are served meanwhile.
    for _ in range(50):
        score(harness, name, ROWS)
    assert taken < total
    assert sum(len(one.scores) for one in responses) == total * 10_000 - 1024


def test_row_at_fault_in_a_stream_is_counted_over_the_whole_stream(harness: Harness) -> None:
    messages = [
        scoring_pb2.ScoreStreamRequest(matrix=matrix(X)) for X in (ROWS, spoiled(5, 1, np.nan))
    ]
    responses = stream(harness, upload(harness).name, messages)
    found: list[int] = []
    error = refusal(lambda: found.extend(one.first_row for one in responses))
    assert found[0] == 0
    assert reason_of(error) == "DATASET_NOT_FINITE"
    assert error_info(status_of(error)).metadata["row"] == str(len(ROWS) + 5)


@pytest.mark.parametrize("headers", [0, 2])
def test_stream_has_exactly_one_header(harness: Harness, headers: int) -> None:
    name = upload(harness).name
    request = scoring_pb2.ScoreStreamRequest
    messages = [request(header=scoring_pb2.ScoreStreamHeader(model=name))] * headers
    messages.append(request(matrix=matrix(ROWS)))
    error = refusal(lambda: list(harness.scoring.ScoreStream(iter(messages), timeout=CALL_S)))
    assert reason_of(error) == "PROTOCOL_VIOLATION"


def test_header_may_come_with_rows(harness: Harness) -> None:
    first = scoring_pb2.ScoreStreamRequest(
        header=scoring_pb2.ScoreStreamHeader(model=upload(harness).name), matrix=matrix(ROWS)
    )
    (response,) = harness.scoring.ScoreStream(iter([first]), timeout=CALL_S)
    assert_same(response.scores, MODEL, ROWS)


def test_other_calls_are_answered_while_many_rows_are_judged(harness: Harness) -> None:
    name, session = upload(harness).name, harness.session().name
    message = scoring_pb2.ScoreStreamRequest(matrix=matrix(rows(n=10_000)))
    responses = stream(harness, name, [message] * 4, detector=REFINED)
    next(responses)
    harness.get(session)
    # Most of the rows are still to be judged, which takes far longer than that call.
    assert sum(len(one.scores) for one in responses) == 4 * 10_000 - 1024


def test_stream_ends_when_its_server_shuts_down(redis_url: str) -> None:
    with service(redis_url) as process, harness_at(process.ready["address"], redis_url) as harness:
        over = threading.Event()
        responses = stream(harness, upload(harness).name, endless(ROWS, over))
        next(responses)
        stopping = threading.Thread(target=process.stop)
        stopping.start()
        error = refusal(lambda: list(responses))
        over.set()
        stopping.join()
        assert (error.code(), reason_of(error)) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")


# Uploaded models


def test_uploaded_model_is_described(harness: Harness) -> None:
    model = upload(harness)
    assert model.name.startswith("models/")
    assert (model.feature_count, list(model.feature_names)) == (3, ["f0", "f1", "f2"])
    assert model.support_vector_count == len(MODEL.alphas)
    assert (model.has_refined, model.has_profile) == (True, True)
    found = harness.scoring.GetModel(scoring_pb2.GetModelRequest(name=model.name)).model
    assert found == model
    bare = upload(harness, fit(feature_names=(), profile=None))
    assert (bare.has_refined, bare.has_profile, list(bare.feature_names)) == (False, False, [])


def test_same_file_again_has_the_same_name_and_more_time(harness: Harness) -> None:
    first, again = upload(harness, ttl_seconds=60), upload(harness, ttl_seconds=7200)
    assert again.name == first.name
    assert again.expire_time.ToMilliseconds() > first.expire_time.ToMilliseconds() + 7_000_000
    assert upload(harness).expire_time.ToMilliseconds() > again.expire_time.ToMilliseconds()
    assert upload(harness, fit()).name != first.name


def test_model_that_was_deleted_or_has_expired_is_not_found(harness: Harness) -> None:
    name = upload(harness).name
    score(harness, name, ROWS)
    harness.scoring.DeleteModel(scoring_pb2.DeleteModelRequest(name=name))
    calls: list[Callable[[], Any]] = [
        lambda: score(harness, name, ROWS),
        lambda: harness.scoring.GetModel(scoring_pb2.GetModelRequest(name=name)),
        lambda: harness.scoring.DeleteModel(scoring_pb2.DeleteModelRequest(name=name)),
        lambda: score(harness, "models/nothing", ROWS),
        lambda: list(stream(harness, name, [])),
    ]
    for call in calls:
        error = refusal(call)
        assert (error.code(), reason_of(error)) == (grpc.StatusCode.NOT_FOUND, "MODEL_NOT_FOUND")
    upload(harness)
    with connect(harness.redis_url) as redis:
        assert redis.pexpire(keys.model(0, ModelId(name.removeprefix("models/"))), 0)
    assert reason_of(refusal(calls[0])) == "MODEL_NOT_FOUND"


@pytest.mark.parametrize("name", ["", "models", "models/a/b", "sessions/x", "datasets/y"])
def test_name_of_no_model_is_refused(harness: Harness, name: str) -> None:
    assert reason_of(refusal(lambda: score(harness, name, ROWS))) == "INVALID_NAME"


def other_manifest(content: bytes, old: bytes, new: bytes) -> bytes:
    """A model file whose manifest has one text for another."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(changed, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            after.writestr(name, data.replace(old, new) if name == "manifest.json" else data)
    return changed.getvalue()


def packed(content: bytes) -> bytes:
    """A model file with a member that is large unpacked."""
    changed = io.BytesIO(content)
    with zipfile.ZipFile(changed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", bytes(65 << 20))
    return changed.getvalue()


FILE = content_of(fit())
FILES = {
    "no file": (b"", "MODEL_CORRUPT"),
    "other file": (b"no zip at all", "MODEL_CORRUPT"),
    "cut off": (FILE[:-100], "MODEL_CORRUPT"),
    "other gamma": (other_manifest(FILE, b'"gamma": 2.0', b'"gamma": 2.1'), "MODEL_CORRUPT"),
    "other version": (
        other_manifest(FILE, b'"version": 2', b'"version": 9'),
        "MODEL_VERSION_UNSUPPORTED",
    ),
    "large unpacked": (packed(FILE), "MODEL_CORRUPT"),
}


@pytest.mark.parametrize(("content", "reason"), FILES.values(), ids=FILES)
def test_file_that_is_no_model_is_refused(harness: Harness, content: bytes, reason: str) -> None:
    requests = upload_requests(content)
    error = refusal(lambda: harness.scoring.UploadModel(iter(requests), timeout=CALL_S))
    assert (error.code(), reason_of(error)) == (grpc.StatusCode.INVALID_ARGUMENT, reason)


def test_upload_out_of_order_is_refused(harness: Harness) -> None:
    begun, *chunks = upload_requests(FILE)
    for requests in ([], chunks, [begun, begun], [begun, scoring_pb2.UploadModelRequest()]):
        call = lambda of=requests: harness.scoring.UploadModel(iter(of))  # noqa: E731
        assert reason_of(refusal(call)) == "INVALID_FIELD"


@pytest.mark.parametrize("ttl_seconds", [59.0, 2_592_001.0, float("nan")])
def test_time_to_live_out_of_range_is_refused(harness: Harness, ttl_seconds: float) -> None:
    error = refusal(lambda: upload(harness, ttl_seconds=ttl_seconds))
    assert error_info(status_of(error)).metadata["field"] == "header.ttl_seconds"


def test_model_above_the_limit_is_refused(redis_url: str) -> None:
    with (
        service(redis_url, "127.0.0.1:0", "--max-model-mib", "1") as process,
        harness_at(process.ready["address"], redis_url) as harness,
    ):
        assert upload(harness).name
        requests = upload_requests(bytes((1 << 20) + 1))
        error = refusal(lambda: harness.scoring.UploadModel(iter(requests), timeout=CALL_S))
        assert (error.code(), reason_of(error)) == (
            grpc.StatusCode.INVALID_ARGUMENT,
            "MODEL_TOO_LARGE",
        )


def test_models_that_are_not_kept_are_read_again(redis_url: str) -> None:
    with (
        service(redis_url, "127.0.0.1:0", "--model-cache-mib", "0") as process,
        harness_at(process.ready["address"], redis_url) as harness,
    ):
        models = [fit(seed) for seed in range(3)]
        named = [upload(harness, model).name for model in models]
        for model, name in [*zip(models, named, strict=True)] * 2:
            assert_same(score(harness, name, ROWS).scores, model, ROWS)
