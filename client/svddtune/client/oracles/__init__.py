"""Ready oracles. An oracle takes a `Query` and returns a verdict, a `SkipMode` or a `Command`."""

from svddtune.client.oracles.answers import (
    Answer,
    Command,
    Oracle,
    SessionOracle,
    reply,
    verdict_of,
)
from svddtune.client.oracles.known import KnownLabels
from svddtune.client.oracles.simulated import SimulatedLabeler
from svddtune.client.oracles.tiers import Tier, TierReport, Tiers

__all__ = [
    "Answer",
    "Command",
    "KnownLabels",
    "Oracle",
    "SessionOracle",
    "SimulatedLabeler",
    "Tier",
    "TierReport",
    "Tiers",
    "reply",
    "verdict_of",
]
