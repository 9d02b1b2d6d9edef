"""Mappings: the fields of an export, and the meaning of its values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from svddtune.client.files.times import TimeFormat
from svddtune.client.tickets.values import ValueTable, shown
from svddtune.client.types import Judgement


@dataclass(frozen=True, slots=True)
class TicketMapping:
    """How to read the records of one product's export.

    Fields are dotted paths, see `Record.field`; an empty one is not used. `values` gives a verdict,
    also one with a confidence, and None where a value abstains. `closed` holds the states in which
    a verdict counts.
    """

    name: str
    product: str
    version: str
    sources: tuple[str, ...]
    key: str
    verdict: tuple[str, ...]
    values: ValueTable[Judgement | None]
    observed_format: TimeFormat
    updated_format: TimeFormat
    observation_id: str = ""
    join_key: str = ""
    observed: str = ""
    updated: str = ""
    status: str = ""
    closed: ValueTable[bool] | None = None
    numbers_as_text: bool = False
    # Values whose meaning in the file is overridden, as "VALUE=VERDICT" or
    # "VALUE=VERDICT:CONFIDENCE".
    overrides: tuple[str, ...] = ()

    @property
    def provenance(self) -> str:
        """The provenance of its verdicts: the mapping, its version, and the caller's overrides."""
        return ", ".join((f"{self.name} {self.version}", *self.overrides))

    def in_zone(self, zone: ZoneInfo | None) -> TicketMapping:
        """Return the mapping with a zone for times without one, unless the mapping names one."""
        return replace(
            self,
            observed_format=_with_zone(self.observed_format, zone),
            updated_format=_with_zone(self.updated_format, zone),
        )

    def meanings(self) -> dict[str, list[str]]:
        """Return the values by what they mean: inlier, outlier, abstain.

        A value with a confidence has it behind: "BenignPositive (0.8)".
        """
        found: dict[str, list[str]] = {"inlier": [], "outlier": [], "abstain": []}
        for key, judgement in self.values.items():
            word = judgement.verdict.value if judgement else "abstain"
            sure = judgement.confidence if judgement else None
            value = shown([part.text for part in key])
            found[word].append(value if sure is None else f"{value} ({sure:g})")
        return found


def _with_zone(form: TimeFormat, zone: ZoneInfo | None) -> TimeFormat:
    return form if form.zone is not None else replace(form, zone=zone)
