"""Stop advice: whether further labels are worth their price."""

import math
from collections.abc import Sequence
from functools import lru_cache

from svddtune import numerics
from svddtune.numerics import Moment
from svddtune.v1 import tuning_pb2
from svddtune.worker.scalings import scaling_word


def moment(live: tuning_pb2.LiveEvidence) -> Moment:
    """Return the part of live evidence that the stop rules use."""
    quality = live.quality
    judged = quality.HasField("interval")
    return Moment(
        labels=live.labels,
        scaling=scaling_word(live.scaling),
        gamma=live.gamma,
        C=live.c,
        score=quality.value if quality.HasField("value") else math.nan,
        low=quality.interval.low if judged else math.nan,
        high=quality.interval.high if judged else math.nan,
        inliers=quality.counts.inlier,
        outliers=quality.counts.outlier,
    )


# The history of a session grows with its labels, and every ranking reads all of it.
@lru_cache(maxsize=1 << 15)
def _moment_of(message: bytes) -> Moment:
    return moment(tuning_pb2.LiveEvidence.FromString(message))


def add_advice(live: tuning_pb2.LiveEvidence, history: Sequence[bytes], budget: int) -> None:
    """Judge the newest evidence by its history of LiveEvidence messages, oldest first."""
    earlier = [one for one in map(_moment_of, history) if one.labels < live.labels]
    advice = numerics.advise([*earlier, moment(live)], budget=budget)
    live.advice = advice.sentence
    if live.HasField("expected_gain") and advice.rule != "budget":
        live.advice += f" {_gain(live.expected_gain)}"
    live.stop = advice.stop


def _gain(gain: float) -> str:
    labels = f"{numerics.AHEAD} more labels would probably raise kappa by"
    return f"{labels} less than 0.005." if gain < 0.005 else f"{labels} about {gain:.2f}."
