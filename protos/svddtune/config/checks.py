"""Settings checked: all faults at once, each with its field, value and what is allowed."""

import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from svddtune.config.numbers import Numbers
from svddtune.config.table import (
    ATLAS_STRATEGIES,
    OBSERVATIONS,
    SETTINGS,
    SessionConfig,
    Setting,
)

DEFAULT_BUDGET = 50
# Observations up to which there are strategies without an atlas: they need the neighbours of all of
# them, and the time for these grows with the square.
NEIGHBORS_LIMIT = 20_000
# Bytes of a feature's name; longer ones are refused with the upload.
_LONGEST_NAME = 256


@dataclass(frozen=True, slots=True)
class Violation:
    """A setting with a value that it must not have."""

    setting: Setting
    value: object
    allowed: str
    reason: str = "INVALID_FIELD"

    def __str__(self) -> str:
        return self.about(self.setting.name)

    def about(self, name: str) -> str:
        """The violation as a sentence about the setting under the name that its caller knows."""
        shown = repr(self.value)
        if len(shown) > 100:
            shown = shown[:100] + " ..."
        return f"{name} is {shown}; allowed: {self.allowed}."


class InvalidConfig(ValueError):
    """Settings that cannot be; `violations` has all that is wrong with them."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__(" ".join(map(str, violations)))
        self.violations = tuple(violations)


def checked(config: SessionConfig, observation_count: int | None = None) -> SessionConfig:
    """Return the settings in plain types, with defaults for zeros.

    Parameters
    ----------
    config : SessionConfig
        The settings as they were given.
    observation_count : int, optional
        Rows of the dataset, where they are known. Limits that are numbers of rows hold then, and
        the result is complete.

    Raises
    ------
    InvalidConfig
        Some setting has a wrong type or is out of its range.
    """
    values: dict[str, Any] = {}
    faults = []
    for setting in SETTINGS.values():
        value = getattr(config, setting.name)
        try:
            values[setting.name] = _plain(setting, value)
        except (TypeError, ValueError):
            faults.append(Violation(setting, value, setting.allowed))
    found = SessionConfig(**values)
    if observation_count is not None:
        found = completed(found, observation_count)
    faults += _out_of_proportion(found, observation_count)
    if faults:
        raise InvalidConfig(faults)
    return found


def completed(config: SessionConfig, observation_count: int) -> SessionConfig:
    """Return the settings with those defaults that depend on the dataset or on other settings."""
    return replace(
        config,
        budget=config.budget or min(DEFAULT_BUDGET, observation_count),
        overlap_limit=config.overlap_limit
        or config.overlap + (config.overlap > 1 and not config.adjudicators),
    )


def changed(config: SessionConfig, observation_count: int) -> list[tuple[Setting, Any]]:
    """Return the settings that are not the default's, each with its value.

    What the dataset and other settings lead to by default is no change.
    """
    own = SessionConfig()
    usual = completed(
        replace(own, overlap=config.overlap, adjudicators=config.adjudicators), observation_count
    )
    usual = replace(usual, overlap=own.overlap, adjudicators=own.adjudicators)
    found = [(setting, getattr(config, setting.name)) for setting in SETTINGS.values()]
    return [
        (setting, value)
        for setting, value in found
        if value is not None and value != getattr(usual, setting.name)
    ]


def _plain(setting: Setting, value: Any) -> Any:
    """Return the value in the setting's own type, the default for a zero.

    Raises TypeError or ValueError where the setting does not take the value.
    """
    if setting.is_pair:
        return None if value is None else _bounds(*value)
    if setting.is_list:
        return _texts(setting, value)
    if setting.is_map:
        return _numbers(setting, value)
    if setting.words:
        word = value.lower() if isinstance(value, str) else value
        if word not in setting.words:
            raise ValueError
        return word
    if setting.pattern:
        if value and not re.fullmatch(setting.pattern, value):
            raise ValueError
        if not isinstance(value, str):
            raise TypeError
        return str(value)
    if setting.is_optional and value is None:
        return setting.default
    number = _number(0.0 if setting.default is None else setting.default, value)
    in_range = setting.low is None or setting.low <= number <= _high(setting)
    if setting.is_optional:
        if not in_range:
            raise ValueError
        return number
    if number and not in_range:
        raise ValueError
    return number or setting.default


def _texts(setting: Setting, values: Iterable[Any]) -> tuple[str, ...]:
    if isinstance(values, str | bytes):
        raise TypeError
    found: list[str] = []
    for one in values:
        text = one if isinstance(one, str) else str(operator.index(one))
        if isinstance(one, bool) or not 0 < len(text.encode()) <= _LONGEST_NAME:
            raise ValueError
        if setting.pattern and not re.fullmatch(setting.pattern, text):
            raise ValueError
        found.append(text)
    if len(found) > setting.most or len(set(found)) < len(found):
        raise ValueError
    return tuple(found)


def _numbers(setting: Setting, values: Any) -> Numbers:
    if not isinstance(values, Mapping):
        raise TypeError
    if len(values) > setting.most:
        raise ValueError
    found = {}
    for name, value in values.items():
        number = _number(0.0, value)
        if not re.fullmatch(setting.pattern, name) or not (setting.low or 0) < number <= _high(
            setting
        ):
            raise ValueError
        found[name] = number
    return Numbers(found)


def _number(default: object, value: Any) -> float:
    if isinstance(default, bool):
        if value not in (False, True):
            raise ValueError
        return bool(value)
    if isinstance(value, bool):
        raise TypeError
    if isinstance(default, int):
        return operator.index(value)
    if not isinstance(value, Real):
        raise TypeError
    return float(value)


def _high(setting: Setting) -> float:
    return setting.high if isinstance(setting.high, int | float) else math.inf


def _bounds(low: float, high: float) -> tuple[float, float]:
    low, high = float(low), float(high)
    if not 0.0 < low < high < math.inf:
        raise ValueError
    return low, high


def _out_of_proportion(config: SessionConfig, observation_count: int | None) -> Iterator[Violation]:
    """Yield what other settings, or the dataset, do not allow."""
    limit = SETTINGS["overlap_limit"]
    if 0 < config.overlap_limit < config.overlap:
        yield Violation(limit, config.overlap_limit, f"{config.overlap} to {limit.high}")
    if observation_count is None:
        return
    if observation_count > NEIGHBORS_LIMIT and not config.needs_atlas:
        allowed = (
            f"{', '.join(sorted(ATLAS_STRATEGIES))} above {NEIGHBORS_LIMIT} observations (the "
            f"dataset has {observation_count}), because the others need the neighbours of all"
        )
        yield Violation(SETTINGS["strategy"], config.strategy, allowed)
    for setting in SETTINGS.values():
        value = getattr(config, setting.name)
        if setting.high == OBSERVATIONS and value > observation_count:
            allowed = f"{setting.low} to {observation_count}, the observations of the dataset"
            reason = "BUDGET_TOO_LARGE" if setting.name == "budget" else "INVALID_FIELD"
            yield Violation(setting, value, allowed, reason)
