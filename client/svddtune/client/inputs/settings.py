"""Settings of a session as callers give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from svddtune.client.errors import InvalidInput
from svddtune.config import SETTINGS, InvalidConfig, SessionConfig, checked, visible_columns


def read_settings(
    given: Mapping[str, object],
    config: SessionConfig | None = None,
    observation_count: int | None = None,
) -> SessionConfig:
    """Return the settings in plain types.

    Parameters
    ----------
    given : mapping
        Values by the names of the fields of `SessionConfig`; None leaves a setting as it is.
    config : SessionConfig, optional
        What `given` changes; the defaults if omitted.
    observation_count : int, optional
        Rows of the dataset, if known: `budget` and `audit` are then compared with it, and all
        defaults are filled in.

    Raises
    ------
    InvalidInput
        INVALID_FIELD or BUDGET_TOO_LARGE. The message names all settings at fault, the metadata
        the first one.
    """
    unknown = [name for name in given if name not in SETTINGS]
    if unknown:
        raise InvalidInput(
            f"Unknown setting of a session: {', '.join(unknown)}; use {', '.join(SETTINGS)}",
            metadata={"field": unknown[0]},
        )
    values = {name: value for name, value in given.items() if value is not None}
    try:
        changed = replace(config or SessionConfig(), **values)  # type: ignore[arg-type]
        return checked(changed, observation_count)
    except InvalidConfig as error:
        raise _refused(error) from None


def check_visible_features(config: SessionConfig, names: Sequence[str], count: int) -> None:
    """Check that a dataset has the features that labelers are to see.

    Parameters
    ----------
    config : SessionConfig
        Settings that were checked.
    names : sequence of str
        Names of the dataset's features; empty if it has none.
    count : int
        Number of its features.

    Raises
    ------
    InvalidInput
        INVALID_FIELD: there is no such feature, or one is named twice.
    """
    try:
        visible_columns(config, names, count)
    except InvalidConfig as error:
        raise _refused(error) from None


def _refused(error: InvalidConfig) -> InvalidInput:
    first = error.violations[0]
    return InvalidInput(
        str(error),
        reason=first.reason,
        metadata={
            "field": first.setting.name,
            "value": str(first.value),
            "allowed": first.allowed,
        },
    )
