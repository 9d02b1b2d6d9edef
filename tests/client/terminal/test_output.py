"""Figures as people read them."""

import pytest

from svddtune.client import Interval, OutlierShare
from svddtune.client.terminal.output import estimated, expected


@pytest.mark.parametrize(
    ("method", "source"), [("belief", "from the labels"), ("audit", "by audit")]
)
def test_estimated_share_names_interval_and_source(method: str, source: str) -> None:
    share = OutlierShare(0.0831, Interval(0.05, 0.126, 0.9), method, 25)
    assert estimated(share) == f"8.3% [5.0%, 12.6%], estimated {source}"


@pytest.mark.parametrize(
    ("gain", "said"), [(0.0, "less than 0.005"), (0.005, "about 0.01"), (0.0231, "about 0.02")]
)
def test_gain_too_small_to_show_is_said_to_be_small(gain: float, said: str) -> None:
    assert expected(gain) == said
