"""Features files: each fault with its key."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.client.alertmanager.scene import NUMBER

from svddtune.client import InvalidInput
from svddtune.client.alertmanager import load_features


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "schema is missing; this version reads schema = 1"),
        ({"schema": 2}, "schema is 2; this version reads schema = 1"),
        ({"schema": 1}, "feature is missing; begin each feature with [[feature]]"),
        (
            {"schema": 1, "features": []},
            "features is not a known key; use one of schema, time_zone, key, display, feature",
        ),
        (
            {"schema": 1, "time_zone": "Mars"},
            "time_zone 'Mars' is not a time zone; use a name such as UTC or Europe/Berlin",
        ),
        (
            {"schema": 1, "key": "instance"},
            "key is 'instance', not labels.NAME, annotations.NAME or one of "
            "status, startsAt, endsAt, fingerprint",
        ),
        (NUMBER | {"display": "status"}, "display is 'status', not a list"),
        (
            NUMBER | {"display": ["labels.a", "annotations.a"]},
            "display has 'a' twice; give one of them another name",
        ),
        (
            {"schema": 1, "feature": [{"kind": "sum"}]},
            "feature[0].kind is 'sum'; "
            "use one of number, one_hot, duration, hour, weekday, group_count",
        ),
        (
            {"schema": 1, "feature": [{"name": "x"}]},
            "feature[0].kind is missing; "
            "use one of number, one_hot, duration, hour, weekday, group_count",
        ),
        (
            {"schema": 1, "feature": [{"kind": "hour", "from": "labels.x"}]},
            "feature[0].from is not a known key; use one of kind, name, cyclic",
        ),
        (
            {"schema": 1, "feature": [{"kind": "hour", "cyclic": 1}]},
            "feature[0].cyclic is 1, not true or false",
        ),
        (
            {"schema": 1, "feature": [{"kind": "hour", "name": "7"}]},
            "feature[0].name is '7', not a column name; give a text that is not a number",
        ),
        (
            {"schema": 1, "feature": [{"kind": "number"}]},
            "feature[0].from is None, not labels.NAME, annotations.NAME or one of "
            "status, startsAt, endsAt, fingerprint",
        ),
        (
            {"schema": 1, "feature": [{"kind": "duration", "firing": math.inf}]},
            "feature[0].firing is inf, not a finite number",
        ),
        (
            {"schema": 1, "feature": [{"kind": "one_hot", "from": "labels.a", "values": "b"}]},
            "feature[0].values is 'b', not a list of texts, one for each column",
        ),
        (
            {
                "schema": 1,
                "feature": [{"kind": "one_hot", "from": "labels.a", "values": ["b", "b"]}],
            },
            "feature[0].values has 'b' twice; give one of them another name",
        ),
        (
            {"schema": 1, "feature": [{"kind": "hour"}, {"kind": "hour"}]},
            "feature has 'hour' twice; give one of them another name",
        ),
    ],
)
def test_fault_of_the_features_is_named_with_its_key(
    document: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_features(document)
    assert refused.value.message == f"features: {message}"
    assert refused.value.reason == "FEATURES_INVALID"
