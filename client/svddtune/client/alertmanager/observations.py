"""Alerts as rows of numbers with ids, keys and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.client.alertmanager.features import AlertFeatures, load_features
from svddtune.client.alertmanager.payload import Alert, read_alerts
from svddtune.client.errors import InvalidInput
from svddtune.client.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AlertObservations:
    """N alerts as observations, for `tune`, `upload_dataset` and the join with tickets.

    ::

        found = observations_from_alertmanager(payloads, "features.toml")
        tune(found.X, oracle, ids=found.ids, feature_names=found.feature_names,
             display=found.display)

    Attributes
    ----------
    X : array (N, M)
    ids : N strings
        FINGERPRINT@STARTS_AT, the time in UTC.
    keys : N strings
        What the features' `key` names, e.g. the instance; empty where an alert has none.
    times : N instants
        startsAt.
    display : N mappings
        What labelers are shown.
    """

    X: FloatArray
    feature_names: tuple[str, ...]
    ids: tuple[str, ...]
    keys: tuple[str, ...]
    times: tuple[datetime, ...]
    display: tuple[dict[str, str], ...]


def observations_from_alertmanager(
    payloads: Iterable[Mapping[str, Any]],
    features: str | Path | Mapping[str, Any] | AlertFeatures,
) -> AlertObservations:
    """Return the alerts of webhook payloads as observations, each alert once.

    Repeated notifications of one alert (same fingerprint and startsAt) are one observation, in the
    state that came last.

    Parameters
    ----------
    payloads : iterable of mappings
        As Alertmanager posts them, version "4", in the order in which they came.
    features : path, mapping or AlertFeatures
        A TOML file, or its content; see `svddtune.client.alertmanager.features`.

    Raises
    ------
    InvalidInput
        FEATURES_INVALID with the key, PAYLOAD_INVALID with the index of payload and alert and the
        key, of the first fault.
    """
    if not isinstance(features, AlertFeatures):
        features = load_features(features)
    placed = ((f"payloads[{i}]", payload) for i, payload in enumerate(payloads))
    return from_alerts(read_alerts(placed), features)


def from_alerts(alerts: list[Alert], features: AlertFeatures) -> AlertObservations:
    """Return alerts as observations, in the same order."""
    if not alerts:
        raise InvalidInput("The payloads contain no alert", reason="DATASET_EMPTY")
    key = features.key
    return AlertObservations(
        X=np.array([features.row(alert) for alert in alerts], dtype=np.float64),
        feature_names=features.names,
        ids=tuple(alert.id for alert in alerts),
        keys=tuple((key.text(alert) or "") if key else "" for alert in alerts),
        times=tuple(alert.starts for alert in alerts),
        display=tuple(_shown(alert, features) for alert in alerts),
    )


def _shown(alert: Alert, features: AlertFeatures) -> dict[str, str]:
    texts = {field.name: field.text(alert) for field in features.display}
    return {name: text for name, text in texts.items() if text}
