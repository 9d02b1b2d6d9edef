"""Which columns of a dataset `SessionConfig.visible_features` names."""

from collections.abc import Sequence

from svddtune.config.checks import InvalidConfig, Violation
from svddtune.config.table import SETTINGS, SessionConfig

# Names that a message lists.
_LISTED = 10


def visible_columns(
    config: SessionConfig, feature_names: Sequence[str], feature_count: int
) -> tuple[int, ...] | None:
    """Return the columns of the features that labelers see, in the order of the setting.

    Parameters
    ----------
    config : SessionConfig
        Settings that were checked.
    feature_names : sequence of M str
        Names of the dataset's features; empty if it has none.
    feature_count : int
        M.

    Returns
    -------
    tuple of int or None
        Columns, counted from 0; None where labelers see all features. A text that is a feature's
        name means that feature, even if it is a number.

    Raises
    ------
    InvalidConfig
        There is no such feature, or one is named twice.
    """
    if not config.visible_features:
        return None
    places = {name: column for column, name in enumerate(feature_names)}
    found: list[int] = []
    for one in map(str, config.visible_features):
        column = places.get(one)
        if column is None and one.isascii() and one.isdecimal() and int(one) < feature_count:
            column = int(one)
        if column is None:
            raise _invalid(one, _there(feature_names, feature_count))
        if column in found:
            raise _invalid(one, "each feature once")
        found.append(column)
    return tuple(found)


def _invalid(value: str, allowed: str) -> InvalidConfig:
    return InvalidConfig([Violation(SETTINGS["visible_features"], value, allowed)])


def _there(names: Sequence[str], count: int) -> str:
    listed = ", ".join(map(repr, names[:_LISTED])) + (", ..." if len(names) > _LISTED else "")
    columns = f"the column of a feature, 0 to {count - 1}"
    return f"{columns}, or its name: {listed}" if names else f"{columns} (they have no names)"
