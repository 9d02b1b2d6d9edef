"""A result says what is odd about its data and its labels."""

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune.numerics import FloatArray
from svddtune.state.session import SessionState, Verdict
from svddtune.v1 import result_pb2

pytestmark = pytest.mark.integration

X, TRUTH = blobs(60, 3, seed=4)
LABELLED = [*np.flatnonzero(TRUTH == 1)[:8], *np.flatnonzero(TRUTH == -1)[:3]]


def notes_of(redis_url: str, rows: FloatArray, labelled: dict[int, Verdict]) -> list[str]:
    async def act(shop: Workshop) -> list[str]:
        await shop.upload_rows(rows)
        session_id = await shop.tuning(initial=labelled, budget=len(rows))
        await shop.sessions.finish(session_id)
        shop.worker.work_off()
        session = await shop.sessions.get(session_id)
        assert session.state is SessionState.COMPLETED, session.failure
        return list(
            result_pb2.TuningResult.FromString(await shop.sessions.result(session_id)).notes
        )

    return work(redis_url, act)


def test_result_names_constant_and_repeated_columns(redis_url: str) -> None:
    rows = np.column_stack((X, np.full(len(X), 7.0), X[:, 0]))
    labelled = {int(row): Verdict(int(TRUTH[row])) for row in LABELLED}
    notes = notes_of(redis_url, rows, labelled)
    assert "Column 3 is constant and can tell no rows apart." in notes
    assert any(note.startswith("Column 4 is equal to a column before") for note in notes)


def test_result_says_that_no_cell_agrees_with_labels_of_equal_rows(redis_url: str) -> None:
    labelled = {row: Verdict(1 if row % 2 else -1) for row in range(12)}
    notes = notes_of(redis_url, np.ones((30, 2)), labelled)
    assert any(note.startswith("No cell agrees with the labels better than") for note in notes)
    assert "All rows are equal, so no model can tell them apart." in notes


def test_result_of_swapped_labels_says_so(redis_url: str) -> None:
    labelled = {int(row): Verdict(-int(TRUTH[row])) for row in LABELLED}
    notes = notes_of(redis_url, X, labelled)
    assert any("labels are swapped" in note or "or swapped" in note for note in notes), notes


def test_result_of_few_rows_says_so(redis_url: str) -> None:
    rows = X[LABELLED]
    labelled = {place: Verdict(int(TRUTH[row])) for place, row in enumerate(LABELLED)}
    assert any(note.startswith("There are 11 rows") for note in notes_of(redis_url, rows, labelled))


def test_result_without_a_mistake_on_its_labels_says_what_its_interval_cannot_tell(
    redis_url: str,
) -> None:
    apart = np.r_[np.random.default_rng(1).normal(size=(40, 2)), [[30.0, 30.0], [-30.0, 30.0]]]
    labelled = dict.fromkeys(range(0, 20, 2), Verdict.INLIER)
    labelled |= {40: Verdict.OUTLIER, 41: Verdict.OUTLIER}
    notes = notes_of(redis_url, apart, labelled)
    assert any(note.startswith("The model agrees with all 12 labels") for note in notes), notes
    assert not any("rests on" in note for note in notes)
