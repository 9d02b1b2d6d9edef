"""A session on more rows than take part in everything: its preparation, atlas and result."""

import numpy as np
import pytest
from tests.worker.scene import Workshop, work

from svddtune import numerics
from svddtune.state.session import SAMPLED_ABOVE, SessionState, Verdict
from svddtune.v1 import result_pb2

pytestmark = [pytest.mark.integration, pytest.mark.slow]

N = SAMPLED_ABOVE + 500
RNG = np.random.default_rng(3)
RAW = np.concatenate((RNG.normal(size=(N - 200, 3)), RNG.normal(6.0, 1.0, size=(200, 3))))
TRUTH = np.where(np.arange(N) < N - 200, 1, -1)


def test_session_on_large_data_reaches_a_result_that_covers_all_rows(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(RAW, "standard")
        # Labels of rows outside of the panel, which the atlas judges on demand.
        outside = np.setdiff1d(np.arange(N), numerics.panel_rows(N))
        known = [*outside[:3].tolist(), *outside[-2:].tolist()]
        session_id = await shop.tuning(
            budget=12, initial={row: Verdict(int(TRUTH[row])) for row in known}
        )
        keys = [key.decode() for key in shop.worker.client.scan_iter("*:prep:*")]
        assert {key.split(":prep:")[1].split(":")[0] for key in keys} == {"8p"}
        while (await shop.sessions.get(session_id)).state is SessionState.LABELING:
            for lease in await shop.lease(session_id, "ann"):
                await shop.answer(session_id, lease, Verdict(int(TRUTH[lease.row])), labeler="ann")
            shop.worker.work_off()
        session = await shop.sessions.get(session_id)
        assert session.state is SessionState.COMPLETED, session.failure
        result = result_pb2.TuningResult.FromString(await shop.sessions.result(session_id))
        assert 100 < result.outside_count < 1000
        assert not result.alignment_curve
        assert any("uniform sample of 2048 rows" in note for note in result.notes)
        assert result.comparisons
        assert all(one.sample_size == 4096 and not one.outside for one in result.comparisons)
        assert all(0 <= one.outside_count <= N for one in result.comparisons)

    work(redis_url, act)
