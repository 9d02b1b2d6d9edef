"""What ends a watch, and what only its present stream."""

import pytest

from svddtune.client import Unauthenticated, Unavailable
from svddtune.client.wire.watch import Watch
from svddtune.v1 import tuning_pb2

EXPIRED = Unauthenticated("expired", reason="CREDENTIALS_INVALID")
NEWS = tuning_pb2.WatchSessionResponse(
    session=tuning_pb2.Session(state=tuning_pb2.SESSION_STATE_LABELING), resume_token="1"
)


def test_watch_goes_on_after_its_token_expired_and_ends_where_the_next_one_is_refused() -> None:
    watch = Watch("sessions/one", timeout_s=None)
    watch.request()
    watch.heard(NEWS)
    watch.failed(EXPIRED)
    assert watch.request().resume_token == "1"
    with pytest.raises(Unauthenticated):
        watch.failed(EXPIRED)


def test_watch_whose_first_token_is_refused_ends_at_once() -> None:
    watch = Watch("sessions/one", timeout_s=None)
    watch.request()
    watch.failed(Unavailable("away"))
    watch.request()
    with pytest.raises(Unauthenticated):
        watch.failed(EXPIRED)
