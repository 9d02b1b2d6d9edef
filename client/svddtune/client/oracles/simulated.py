"""A simulated labeler with errors, abstentions and delays, for planning."""

from __future__ import annotations

import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.oracles.answers import Answer
from svddtune.client.oracles.known import KnownLabels
from svddtune.client.types import Query, SkipMode, Verdict

_OTHER = {Verdict.INLIER: Verdict.OUTLIER, Verdict.OUTLIER: Verdict.INLIER}
PerClass = float | Mapping[str, float] | Mapping[Verdict, float]


class SimulatedLabeler:
    """An oracle that knows the truth and sometimes errs or abstains.

    Its behaviour depends only on `seed`, `name` and the observation: the same labeler gives the
    same answer to the same observation in any order of queries. Labelers of different names err
    independently.

    Parameters
    ----------
    truth : array (N,), mapping or KnownLabels
        As for `KnownLabels`. A query about an observation without truth is dropped.
    name : str
        Default "simulated".
    noise : float or mapping, in [0, 1]
        Share of wrong verdicts; a mapping gives it by true class, e.g.
        ``{"inlier": 0.02, "outlier": 0.2}``. Classes it does not name get 0.
    unsure, pass_on : float, in [0, 1], together at most 1
        Shares of observations on which the labeler says "unsure", or skips to others.
    delay_s, delay_sigma : float, at least 0
        Seconds for a query: `delay_s` exactly where `delay_sigma` is 0, else log-normal with this
        median and this standard deviation of the logarithm.
    cost : float or mapping, at least 0
        Of one answer ("unsure" is one, passing on is not), by the true class as with `noise`.
    consistency : float, in [0, 1]
        Share of repeated questions answered as the first time; the others get the other verdict.
    seed : int
        Default 0.
    sleep : callable
        Called with the seconds of each query; default `time.sleep`. Replace it to simulate time.

    Attributes
    ----------
    answers, wrong, unsure_answers, passed_on : int
        Counts so far; `wrong` counts verdicts against the truth.
    cost : float
        Of all answers so far.
    busy_s : float
        Seconds spent on all queries so far.
    dropped : list of str
        Observations of its queries without truth.

    Raises
    ------
    InvalidInput
        INVALID_FIELD: a share is outside [0, 1], a delay or cost is negative, or a class does not
        exist.
    """

    def __init__(
        self,
        truth: Any,
        *,
        name: str = "simulated",
        noise: PerClass = 0.0,
        unsure: float = 0.0,
        pass_on: float = 0.0,
        delay_s: float = 0.0,
        delay_sigma: float = 0.0,
        cost: PerClass = 0.0,
        consistency: float = 1.0,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self.sleep = sleep
        self.answers = self.wrong = self.unsure_answers = self.passed_on = 0
        self.cost = self.busy_s = 0.0
        self.dropped: list[str] = []
        self._truth = truth if isinstance(truth, KnownLabels) else KnownLabels(truth)
        self._noise = _per_class(noise, "noise", most=1.0)
        self._cost = _per_class(cost, "cost")
        self._unsure = _checked(unsure, "unsure", most=1.0)
        self._pass_on = _checked(pass_on, "pass_on", most=1.0)
        if unsure + pass_on > 1:
            raise InvalidInput(
                f"unsure = {unsure:g} and pass_on = {pass_on:g} add up to more than 1; they are "
                f"shares of the same observations",
                metadata={"field": "pass_on", "value": f"{pass_on:g}"},
            )
        self._delay_s = _checked(delay_s, "delay_s")
        self._delay_sigma = _checked(delay_sigma, "delay_sigma")
        self._consistency = _checked(consistency, "consistency", most=1.0)
        self._seed = seed
        self._times: Counter[str] = Counter()

    def __call__(self, query: Query) -> Answer:
        """Wait for the labeler's delay, then return its answer to the query."""
        truth = self._truth.look_up(query.observation_id, query.row)
        if truth is None or truth is Verdict.UNSURE:
            self.dropped.append(query.observation_id)
            return SkipMode.DROP
        nth = self._times[query.observation_id]
        self._times[query.observation_id] += 1
        self._take_time(query.observation_id, nth)
        answer = self._say(query.observation_id, truth, nth)
        if isinstance(answer, SkipMode):
            self.passed_on += 1
            return answer
        self.answers += 1
        self.cost += self._cost[truth]
        self.unsure_answers += answer is Verdict.UNSURE
        self.wrong += answer is _OTHER[truth]
        return answer

    def _say(self, observation_id: str, truth: Verdict, nth: int) -> Verdict | SkipMode:
        wavers = nth > 0 and self._uniform(observation_id, "waver", nth) >= self._consistency
        mood = self._uniform(observation_id, "abstain")
        abstains = mood < self._unsure + self._pass_on
        if abstains and not wavers:
            return Verdict.UNSURE if mood < self._unsure else SkipMode.OTHERS
        wrong = self._uniform(observation_id, "noise") < self._noise[truth]
        # An inconsistent repeat of an abstention gives the verdict behind it.
        return _OTHER[truth] if wrong is not (wavers and not abstains) else truth

    def _take_time(self, observation_id: str, nth: int) -> None:
        seconds = self._delay_s
        if self._delay_sigma > 0:
            normal = NormalDist().inv_cdf(self._uniform(observation_id, "delay", nth))
            seconds *= math.exp(self._delay_sigma * normal)
        if seconds > 0:
            self.busy_s += seconds
            self.sleep(seconds)

    def _uniform(self, observation_id: str, what: str, nth: int = 0) -> float:
        """Return a number in (0, 1) that is a function of its arguments, the seed and the name."""
        key = "\0".join((str(self._seed), self.name, observation_id, what, str(nth)))
        digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
        return ((int.from_bytes(digest) >> 12) + 0.5) / 2**52


def _per_class(value: PerClass, name: str, most: float = math.inf) -> dict[Verdict, float]:
    if not isinstance(value, Mapping):
        return dict.fromkeys(_OTHER, _checked(value, name, most))
    given = dict.fromkeys(_OTHER, 0.0)
    for key, share in value.items():
        verdict = Verdict.of(key)
        if verdict not in given:
            raise InvalidInput(
                f"{name} has the key {key!r}: use 'inlier' and 'outlier'",
                metadata={"field": name, "value": str(key)},
            )
        given[verdict] = _checked(share, f"{name} of {verdict.value}s", most)
    return given


def _checked(value: float, name: str, most: float = math.inf) -> float:
    """Return a finite number in [0, most]; InvalidInput for any other value."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if 0 <= number <= most and number < math.inf:
        return number
    asked = "a number from 0 to 1" if most == 1 else "a finite number, 0 or more"
    raise InvalidInput(
        f"{name} is {value!r}; it must be {asked}", metadata={"field": name, "value": repr(value)}
    )
