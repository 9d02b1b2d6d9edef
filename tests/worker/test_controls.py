"""Control items in the worker: shown like other queries, and in no label, audit or result."""

import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune.config import SessionConfig
from svddtune.state.session import ControlItem, SessionState, Verdict
from svddtune.v1.oracle_pb2 import Explanation

pytestmark = pytest.mark.integration

X, TRUTH = blobs(40, 4, seed=0)
KNOWN = {row: Verdict(int(TRUTH[row])) for row in (3, 8, 21)}


@pytest.mark.parametrize("blind", [False, True])
def test_control_items_look_like_queries_and_are_in_no_label_audit_or_result(
    redis_url: str, blind: bool
) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        budget = len(X) - len(KNOWN)
        session_id = await shop.sessions.create(
            shop.dataset_id,
            # Everything but the control items is asked, half of it for the audit.
            SessionConfig(
                budget=budget, strategy="lama", blind=blind, audit=len(X) // 2, control_share=0.3
            ),
            observation_count=len(X),
            scaling=shop.scaling,
            controls=[ControlItem(row, verdict) for row, verdict in KNOWN.items()],
        )
        shop.worker.work_off()
        shown: dict[int, Explanation] = {}
        while await shop.state(session_id) is SessionState.LABELING:
            (lease,) = await shop.lease(session_id)
            (text,) = await shop.sessions.explanations(session_id, [lease.query])
            shown[lease.row] = Explanation.FromString(text)
            # What is said of control items is wrong, which would show in the labels.
            wrong = lease.row in KNOWN
            await shop.answer(session_id, lease, Verdict(int(TRUTH[lease.row]) * (-1) ** wrong))
            shop.worker.work_off()
        assert shown.keys() == set(range(len(X)))
        others = [one for row, one in shown.items() if row not in KNOWN]
        for row in KNOWN:
            assert shown[row].why.partition("at least")[0] in {
                one.why.partition("at least")[0] for one in others
            }
            assert len(shown[row].unusual) in {len(one.unusual) for one in others}
            assert len(shown[row].nearby) in {len(one.nearby) for one in others}
            assert shown[row].unusual
        result = await shop.result(session_id)
        assert not KNOWN.keys() & set(result.manifest.labeled_rows)
        assert result.audit.counts.total == len(X) // 2
        assert (await shop.counts(session_id)).total == budget

    work(redis_url, act)
