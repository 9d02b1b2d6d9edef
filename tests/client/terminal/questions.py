"""Queries and sessions to show."""

from typing import Any

import numpy as np

from svddtune.client import Interval, LabelCounts, LiveEvidence, Nearby, Quality, Query, Session
from svddtune.client.types import SessionState, Unusual, Verdict
from svddtune.config import SessionConfig

SESSION = "sessions/p00-1"


def query(number: int, **changes: Any) -> Query:
    """A query with everything that can be shown."""
    values: dict[str, Any] = {
        "number": number,
        "observation_id": f"case-{number}",
        "row": number,
        "features": np.array([6.1, 0.5, 1e6, 2019.0, *range(8)]),
        "display": {"host": "db-7", "service": "postgres"},
        "why": "Its label is expected to tell the most about which gamma and C are best.",
        "score": 0.5,
        "lease_id": f"lease-{number}",
        "lease_expires": None,
        "nearby": (
            Nearby("case-90", Verdict.INLIER, 0.25),
            Nearby("case-91", Verdict.OUTLIER, 0.5),
        ),
        "unusual": (
            Unusual("worst area", 3, 2019.0, 550.6, 8.9),
            Unusual("mean radius", 0, 6.1, 12.2, -2.4),
        ),
        "reference_inliers": 5,
        "session": SESSION,
    }
    return Query(**(values | changes))


def session(**changes: Any) -> Session:
    """A session that is being labelled."""
    values: dict[str, Any] = {
        "name": SESSION,
        "dataset": "datasets/d",
        "display_name": "pumps",
        "config": SessionConfig(budget=20),
        "state": SessionState.LABELING,
        "counts": LabelCounts(5, 2, 1, 7),
        "query_count": 9,
        "leased_count": 1,
        "gamma": 0.4,
        "scaling": "minmax",
        "alignment": 0.2,
        "latest_result": "",
        "failure_reason": "",
        "failure_message": "",
        "observation_count": 367,
        "etag": "1",
        "atlas_progress": 1.0,
        "live": LiveEvidence(
            scaling="minmax",
            gamma=0.4,
            C=0.01,
            outside_count=9,
            quality=Quality("kappa", 0.6, Interval(0.2, 0.9, 0.9), LabelCounts(5, 2, 0, 7)),
            expected=0.5,
            advice="Only 2 outliers are labelled; 3 are needed to tell whether more labels pay.",
            stop=False,
            labels=7,
        ),
        "awaiting_votes": 0,
        "ranking_pending": False,
        "waiting_count": 0,
        "without_workers": False,
        "create_time": None,
        "update_time": None,
    }
    return Session(**(values | changes))
