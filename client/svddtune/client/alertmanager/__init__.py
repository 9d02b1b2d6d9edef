"""Alertmanager notifications as observations to label. They carry no verdict."""

from svddtune.client.alertmanager.features import AlertFeatures, load_features
from svddtune.client.alertmanager.observations import (
    AlertObservations,
    observations_from_alertmanager,
)
from svddtune.client.alertmanager.payload import Alert, read_alerts, read_payloads

__all__ = [
    "Alert",
    "AlertFeatures",
    "AlertObservations",
    "load_features",
    "observations_from_alertmanager",
    "read_alerts",
    "read_payloads",
]
