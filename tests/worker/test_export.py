"""A model that was exported in messages decides as the worker's own."""

import numpy as np
import pytest
from tests.numerics.cases import blobs

from svddtune import numerics
from svddtune.client.wire.download import model_from_stream
from svddtune.numerics import REPRESENTATIONS, FloatArray, Views
from svddtune.v1 import dataset_pb2, result_pb2, tuning_pb2
from svddtune.worker import export
from svddtune.worker.data import Data
from svddtune.worker.scalings import scaling_kind


def exported(raw: FloatArray, scaling: str) -> list[tuning_pb2.ExportModelResponse]:
    """A model of rows in a representation, as messages."""
    views = Views(raw, "auto")
    Z = numerics.complete(views.rows(scaling))
    model = numerics.fit(Z, gamma=1.0 / Z.var(axis=0).sum(), C=4.0 / len(Z))
    result = result_pb2.TuningResult(scaling=scaling_kind(scaling))
    return export.model_pieces(model, Data(dataset_pb2.Dataset(), views), result)


@pytest.mark.parametrize("scaling", REPRESENTATIONS)
def test_exported_model_decides_on_raw_rows_as_the_fitted_one(scaling: str) -> None:
    X, _ = blobs(60, 4, seed=2)
    raw = np.exp(3.0 * X) * [1.0, 10.0, 1e4, 1e-3]
    raw[:, 3] = 7.0  # a constant column has no map
    model = model_from_stream(exported(raw, scaling))
    assert model.scaling == scaling
    assert model.feature_count == 4
    views = Views(raw, scaling)
    far = raw + 10.0 * np.ptp(raw, axis=0)
    for rows in (raw, far):
        expected = views.representation(scaling).apply(rows)
        np.testing.assert_array_equal(model.scaled(rows), expected)
    Z = numerics.complete(views.rows(scaling))
    fitted = numerics.fit(Z, gamma=1.0 / Z.var(axis=0).sum(), C=4.0 / len(Z))
    np.testing.assert_array_equal(model.predict(raw) == -1, fitted.outside(Z))


def test_large_representations_are_sent_in_small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = np.random.default_rng(0).normal(size=(80, 30))
    whole = {kind: model_from_stream(exported(raw, kind)) for kind in ("normal", "whitened")}
    monkeypatch.setattr(export, "PIECE_BYTES", 4000)
    for kind, model in whole.items():
        pieces = exported(raw, kind)
        assert len([one for one in pieces if one.HasField("scaling")]) > 1
        assert max(one.ByteSize() for one in pieces[1:]) < 8000
        np.testing.assert_array_equal(model_from_stream(pieces).scaled(raw), model.scaled(raw))
