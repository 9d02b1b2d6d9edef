"""Messages that grow with the labels of a session stay below the limit of a message."""

import numpy as np

from svddtune.config import SessionConfig, to_proto
from svddtune.service import convert, validate
from svddtune.state.session import LabelCounts, LabelEvent, SessionId, Verdict
from svddtune.v1 import common_pb2, oracle_pb2, result_pb2, tuning_pb2

LABELS, ROWS = 100_000, 2_000_000


def test_largest_page_of_the_label_log_fits_into_a_message() -> None:
    event = LabelEvent(
        event_id=f"{10**13}-{10**6}",
        kind="LABELED",
        row=ROWS,
        verdict=Verdict.OUTLIER,
        labeler="x" * 64,
        query=ROWS,
        source_reference="x" * validate.LONGEST_SOURCE_REFERENCE,
        answer_id="x" * validate.LONGEST_ANSWER_ID,
        time_ms=10**13,
        answer_seconds=1.5,
        provenance="x" * validate.LONGEST_PROVENANCE,
        confidence=0.75,
        origin=SessionId("p00-" + "x" * 32),
    )
    page = tuning_pb2.ListLabelsResponse(
        events=[convert.event_to_proto(event, "x" * 256)] * validate.LARGEST_PAGE,
        next_page_token="x" * 100,
    )
    assert page.ByteSize() < convert.MOST_BYTES


def test_result_of_100000_labels_fits_into_a_message() -> None:
    rng = np.random.default_rng(0)
    rows = rng.choice(ROWS, LABELS, replace=False).tolist()
    result = result_pb2.TuningResult(
        manifest=result_pb2.Manifest(
            labeled_rows=rows,
            verdicts=[common_pb2.VERDICT_OUTLIER] * LABELS,
            query_rows=rows,
            certainties=rng.random(LABELS).tolist(),
            config=to_proto(SessionConfig()),
        ),
        # Only up to 4,096 rows is there a bit for each.
        comparisons=[result_pb2.Comparison(name="x" * 40, outside=bytes(512))] * 30,
        c_curve=[result_pb2.GridCell(c=0.1, nu=0.1, score=0.5, r2=0.5)] * 100,
    )
    response = tuning_pb2.GetResultResponse(result=result)
    assert response.ByteSize() < convert.MOST_BYTES


def test_refusals_of_a_whole_batch_fit_into_a_message() -> None:
    answers = [oracle_pb2.Answer(answer_id="x" * 128)] * validate.LARGEST_BATCH
    error = validate.unknown_observation("x" * 300)
    response = convert.batch_to_proto(
        SessionId("p00-" + "x" * 32),
        answers,
        0,
        LabelCounts(),
        dict.fromkeys(range(len(answers)), error),
    )
    assert len(response.rejects) == validate.LARGEST_BATCH
    assert response.ByteSize() < convert.MOST_BYTES
