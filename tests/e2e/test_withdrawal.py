"""The preview of a withdrawal shows its effect on the best model, computed by a worker."""

import pytest
from tests.e2e.processes import deployment
from tests.numerics.cases import blobs
from tests.waiting import wait_until

from svddtune.client import TuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e, pytest.mark.slow]


def test_preview_shows_the_best_model_before_and_after(redis_url: str) -> None:
    X, y = blobs(120, 3, seed=2)
    with deployment(redis_url) as address, TuningClient(address) as client:
        session = client.create_session(client.upload_dataset(X), budget=60)
        with (
            client.tuning(session, labeler="good", credit=0) as good,
            client.tuning(session, labeler="bad", credit=0) as bad,
        ):
            for row in range(40):
                good.label(str(row), int(y[row]))
            for row in range(40, 50):
                bad.label(str(row), -int(y[row]))
        wait_until(lambda: _labels_seen(client, session.name) == 50, timeout_s=60)
        before = client.get_session(session)

        preview = client.withdraw_labeler(session, "bad", preview=True)
        assert preview.votes == 10
        assert (preview.counts_before.total, preview.counts_after.total) == (50, 40)
        assert preview.live_before is not None
        assert preview.live_after is not None
        assert before.live is not None
        assert preview.live_before.gamma == before.live.gamma
        assert preview.live_before.labels == 50
        assert preview.live_after.labels == 40
        assert client.get_session(session).counts == before.counts
        assert {event.kind for event in client.labels(session)} == {"labeled"}

        client.withdraw_labeler(session, "bad")
        wait_until(lambda: _labels_seen(client, session.name) == 40, timeout_s=60)
        after = client.get_session(session).live
        assert after is not None
        # The effect equals the preview.
        assert (after.gamma, after.C) == (preview.live_after.gamma, preview.live_after.C)
        assert after.quality.value == pytest.approx(preview.live_after.quality.value, nan_ok=True)


def _labels_seen(client: TuningClient, session: str) -> int:
    live = client.get_session(session).live
    return live.labels if live else 0
