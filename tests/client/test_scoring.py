"""Both clients let the service judge rows, with the figures of the downloaded model."""

import numpy as np
import pandas as pd
import pytest
from tests.client.flavours import Connect
from tests.client.scene import blob

from svddtune.client import EmbeddedStack, InvalidInput, NotFound, Session, TuningClient, Verdict

pytestmark = pytest.mark.integration

X, Y = blob(21)
NAMES = [f"f{j}" for j in range(X.shape[1])]
KNOWN = [*np.flatnonzero(Y > 0)[:6].tolist(), *np.flatnonzero(Y < 0)[:4].tolist()]


def tuned(client: TuningClient) -> Session:
    session = client.create_session(
        client.upload_dataset(X, feature_names=NAMES),
        initial_labels={str(row): Verdict.of(int(Y[row])) for row in KNOWN},
        budget=len(KNOWN),
        seed=1,
    )
    return client.wait_until_completed(session, timeout_s=60)


def test_service_judges_as_the_downloaded_model(stack: EmbeddedStack, connect: Connect) -> None:
    client = connect(stack.address)
    try:
        session = tuned(client)
        model, result = client.model(session), client.result(session)
        rng = np.random.default_rng(0)
        new = rng.normal(X.mean(axis=0), 2 * X.std(axis=0), size=(12_000, X.shape[1]))
        scores = client.score(session, new)
        assert scores.model == result.name
        assert {1, -1} == set(scores.labels.tolist())
        np.testing.assert_array_equal(scores.labels, model.predict(new))
        np.testing.assert_allclose(scores.distance, -model.decision(new), rtol=0, atol=1e-12)
        assert scores.probability is None
        assert scores.reasons == ((),) * 12_000
        turned = pd.DataFrame(new[:50], columns=NAMES)[NAMES[::-1]]
        for of in (result, result.name):
            refined = client.score(of, turned, which="refined", reasons=2)
            np.testing.assert_array_equal(refined.labels, model.predict(new[:50], which="refined"))
            assert refined.probability is not None
            np.testing.assert_allclose(
                refined.probability, model.probability(new[:50]), rtol=0, atol=1e-12
            )
            assert list(refined.reasons) == model.unusual(new[:50], 2)
        with pytest.raises(InvalidInput) as refused:
            client.score(session, turned.rename(columns={"f0": "g"}))
        assert refused.value.reason == "FEATURE_NAMES_MISMATCH"
        with pytest.raises(InvalidInput) as refused:
            client.score(session, new[:, :1])
        assert refused.value.reason == "FEATURE_COUNT_MISMATCH"
        with pytest.raises(InvalidInput, match="reasons = 101"):
            client.score(session, new, reasons=101)
        with pytest.raises(ValueError, match="expected 'svdd' or 'refined'"):
            client.score(session, new, which="both")  # type: ignore[arg-type]
        client.delete_session(session)
        with pytest.raises(NotFound) as missing:
            client.score(session, new)
        assert missing.value.reason == "SESSION_NOT_FOUND"
    finally:
        client.close()
